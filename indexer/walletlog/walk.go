package walletlog

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// walk goes through the part of an update that one party sees.
type walk struct {
	*tree
	party string
	seen  []*schemas.Event // what the party sees, ascending by node
	err   error            // the first thing that makes no sense
}

// branch is an exercise with what the party sees below it: seen[at] and seen[at+1:end].
type branch struct {
	*walk
	at, end int
}

func (b branch) event() *schemas.Event { return b.seen[b.at] }

func (b branch) below() []*schemas.Event { return b.seen[b.at+1 : b.end] }

// entriesOf returns the entries of a party.
func (t *tree) entriesOf(party string) []store.WalletEntry {
	w := &walk{tree: t, party: party}
	for i := range t.Events {
		e := &t.Events[i]
		if e.Local != nil && slices.Contains(e.Local.Witnesses, party) {
			w.seen = append(w.seen, e)
		}
	}
	entries := w.between(0, len(w.seen), false)
	entries = slices.DeleteFunc(entries, func(e store.WalletEntry) bool { return !concerns(&e, party) })
	for i := range entries {
		w.checkAmounts(&entries[i])
	}
	if w.err != nil {
		entries = []store.WalletEntry{w.unknown()}
	}
	for i := range entries {
		e := &entries[i]
		e.Party, e.Offset, e.Entry, e.EffectiveAt = party, t.Local.Offset, int32(i), t.EffectiveAt
	}
	return entries
}

// concerns reports whether an entry belongs into the log of a party.
func concerns(e *store.WalletEntry, party string) bool {
	if e.Kind == store.WalletNotification {
		return true
	}
	return e.Sender.Party == party || slices.ContainsFunc(e.Receivers, func(r store.PartyAmount) bool { return r.Party == party })
}

// unknown is the entry of an update that makes no sense.
func (w *walk) unknown() store.WalletEntry {
	return store.WalletEntry{Kind: store.WalletUnknown, EventID: w.eventID(w.seen[0]), TemplateID: "unknown", Choice: "unknown"}
}

func (w *walk) eventID(e *schemas.Event) string {
	return w.UpdateID + ":" + strconv.Itoa(int(e.Node))
}

// fail notes that something makes no sense. The first one counts.
func (w *walk) fail(e *schemas.Event, format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("event %s: "+format, append([]any{w.eventID(e)}, args...)...)
	}
}

// between returns the entries of seen[from:to], which are whole branches. Within a choice of
// the token standard coins may come and go without one of the choices that are known.
func (w *walk) between(from, to int, standard bool) (entries []store.WalletEntry) {
	for from < to && w.err == nil {
		b := w.branch(from)
		entries = append(entries, b.entries(standard)...)
		from = b.end
	}
	return entries
}

func (w *walk) branch(at int) branch {
	e, end := w.seen[at], at+1
	if e.Kind == schemas.Exercised {
		for end < len(w.seen) && w.seen[end].Node <= e.Local.LastDescendant {
			end++
		}
	}
	return branch{w, at, end}
}

func (b branch) entries(standard bool) []store.WalletEntry {
	e := b.event()
	if e.Kind == schemas.Created {
		return b.created(e, standard)
	}
	if rule := ruleOf(e); rule.entries != nil {
		return rule.entries(b)
	}
	if isCoin(e) && e.Choice == archiveChoice && !standard {
		b.fail(e, "a coin is archived outside of a known choice")
	}
	return b.children(standard || isTokenStandard(e))
}

// children returns the entries of what is directly below.
func (b branch) children(standard bool) []store.WalletEntry {
	return b.between(b.at+1, b.end, standard)
}

func isTokenStandard(e *schemas.Event) bool {
	return strings.Contains(e.InterfaceID, ":"+template.TokenModules)
}

// created is a create that no known choice explains.
func (b branch) created(e *schemas.Event, standard bool) []store.WalletEntry {
	switch {
	case isCoin(e) && !standard:
		b.fail(e, "a coin is created outside of a known choice")
	case is(e, template.CoinTransferInstruction):
		return b.incoming(e)
	}
	return nil
}

// amount reads a number that must be there.
func (w *walk) amount(e *schemas.Event, what string, v jsonscan.Value) decimal.Decimal {
	if v == nil {
		w.fail(e, "there is no %s", what)
		return decimal.Decimal{}
	}
	return w.optional(e, what, v)
}

// optional reads a number that may be absent, which is 0.
func (w *walk) optional(e *schemas.Event, what string, v jsonscan.Value) decimal.Decimal {
	if v == nil {
		return decimal.Decimal{}
	}
	d, err := decimal.Parse(v.Text())
	if err != nil {
		w.fail(e, "%s: %w", what, err)
	}
	return d
}

// text reads a text that must be there.
func (w *walk) text(e *schemas.Event, what string, v jsonscan.Value) string {
	if !v.IsText() {
		w.fail(e, "there is no %s", what)
	}
	return v.Text()
}

var errTooLarge = errors.New("an amount that cannot be stored")

// checkAmounts makes sure that sums over what was read can be stored.
func (w *walk) checkAmounts(e *store.WalletEntry) {
	list := []decimal.Decimal{e.Sender.Amount, e.HoldingFees, e.AppRewards, e.ValidatorRewards, e.SvRewards, e.DevelopmentFund, e.InstructionAmount}
	for _, r := range e.Receivers {
		list = append(list, r.Amount)
	}
	for _, d := range list {
		if !d.Storable() && w.err == nil {
			w.err = errTooLarge
		}
	}
}
