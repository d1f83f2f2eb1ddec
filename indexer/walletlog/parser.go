package walletlog

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Result is what one update means for wallets.
type Result struct {
	// Entries are by party, and of each in their order.
	Entries []store.WalletEntry
	// Statuses are in the order in which they happened.
	Statuses []store.WalletStatus
}

// Payloads gives the create arguments, compact JSON, of contracts by id, nil for one that is
// not known.
type Payloads func(contractID string) []byte

// Parser reads updates. It is safe for concurrent use.
type Parser struct{ catalog *values.Catalog }

// NewParser returns a parser. The catalogue serves to convert values that are not compact.
func NewParser(catalog *values.Catalog) *Parser { return &Parser{catalog} }

// Needs appends the ids of the contracts whose payloads Update needs to know of an update.
func (p *Parser) Needs(ids []string, u *schemas.Update) []string {
	for i := range u.Events {
		if e := &u.Events[i]; e.Kind == schemas.Exercised && ruleOf(e).payload {
			ids = append(ids, e.ContractID)
		}
	}
	return ids
}

// Update returns what u, whose events carry their Local, means for the parties that see it.
func (p *Parser) Update(u *schemas.Update, payloads Payloads) (r Result) {
	if u.Kind != schemas.Transaction || u.IsImport() {
		return r
	}
	t := tree{Update: u, catalog: p.catalog, payloads: payloads}
	for _, party := range audience(u) {
		r.Entries = append(r.Entries, t.entriesOf(party)...)
	}
	r.Statuses = t.statuses()
	return r
}

// audience are the parties that see any event which may have a meaning, ascending.
func audience(u *schemas.Update) (parties []string) {
	for i := range u.Events {
		e := &u.Events[i]
		if e.Local != nil && isMeaningful(e) {
			parties = append(parties, e.Local.Witnesses...)
		}
	}
	slices.Sort(parties)
	return slices.Compact(parties)
}

func isMeaningful(e *schemas.Event) bool {
	if e.Kind == schemas.Exercised {
		return ruleOf(e).entries != nil || isCoin(e) && e.Choice == archiveChoice
	}
	return isCoin(e) || is(e, template.CoinTransferInstruction)
}

const archiveChoice = "Archive"

// is reports whether an event is on a contract of a template.
func is(e *schemas.Event, name string) bool { return template.Is(name, e.PackageName, e.TemplateID) }

func isCoin(e *schemas.Event) bool { return is(e, template.Coin) }

// tree is an update with the meaning of its values.
type tree struct {
	*schemas.Update
	catalog  *values.Catalog
	payloads Payloads
}

// argument returns the create or choice argument of an event as compact JSON, nil where it
// cannot be converted.
func (t *tree) argument(e *schemas.Event) jsonscan.Value {
	if t.Encoding == schemas.CompactJSON {
		return e.Argument
	}
	if e.Kind == schemas.Created {
		return t.compact(e.Argument, t.catalog.Template(e.PackageName, e.TemplateID))
	}
	return t.compact(e.Argument, t.catalog.ChoiceArgument(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice))
}

// result is the same for the result of a choice.
func (t *tree) result(e *schemas.Event) jsonscan.Value {
	if t.Encoding == schemas.CompactJSON {
		return e.Result
	}
	return t.compact(e.Result, t.catalog.ChoiceResult(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice))
}

func (t *tree) compact(stored []byte, kind *values.Type) jsonscan.Value {
	if kind == nil {
		return nil
	}
	converted, err := values.AppendCompact(nil, stored, kind)
	if err != nil {
		return nil
	}
	return converted
}

// payload is that of a contract that was created before the update, nil if it is not known.
func (t *tree) payload(contractID string) jsonscan.Value {
	if t.payloads == nil {
		return nil
	}
	return t.payloads(contractID)
}
