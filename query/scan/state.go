package scan

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// State reads the network's present state; *history.Reader does.
type State interface {
	// StateContracts are ascending by (created_at, contract id), StateContractsNewest
	// descending and from a creation time on. StateContractsSince has ended ones, too.
	StateContracts(ctx context.Context, q history.StateQuery) ([]history.StateContract, error)
	StateContractsNewest(ctx context.Context, q history.StateQuery, createdAt schemas.Micros) ([]history.StateContract, error)
	StateContractsSince(ctx context.Context, q history.StateQuery, since schemas.Micros) ([]history.StateContract, error)
	// TrafficCost is what the members' transactions cost on a synchronizer, in bytes.
	TrafficCost(ctx context.Context, through schemas.Position, synchronizerID string, members []string) (int64, error)
	// ActivityRounds are the first and the last round with app activity, if any.
	ActivityRounds(ctx context.Context, through schemas.Position) (first, last int64, ok bool, err error)
	// Fact is the latest one of a key, schemas.ErrNotFound if there is none.
	Fact(ctx context.Context, key facts.Key) (facts.Fact, error)
}

// Templates of the state operations, in the network's spelling; contracts stored in the
// neutral one are found, too.
const (
	openRoundTemplate     = "splice-amulet:Splice.Round:OpenMiningRound"
	issuingRoundTemplate  = "splice-amulet:Splice.Round:IssuingMiningRound"
	closedRoundTemplate   = "splice-amulet:Splice.Round:ClosedMiningRound"
	coinRulesTemplate     = "splice-amulet:Splice.AmuletRules:AmuletRules"
	externalRulesTemplate = "splice-amulet:Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules"
	preapprovalTemplate   = "splice-amulet:Splice.AmuletRules:TransferPreapproval"
	commandTemplate       = "splice-amulet:Splice.ExternalPartyAmuletRules:TransferCommand"
	counterTemplate       = "splice-amulet:Splice.ExternalPartyAmuletRules:TransferCommandCounter"
	featuredAppTemplate   = "splice-amulet:Splice.Amulet:FeaturedAppRight"
	fundCouponTemplate    = "splice-amulet:Splice.Amulet:UnclaimedDevelopmentFundCoupon"
	memberTrafficTemplate = "splice-amulet:Splice.DecentralizedSynchronizer:MemberTraffic"
	licenseTemplate       = "splice-amulet:Splice.ValidatorLicense:ValidatorLicense"
	ansRulesTemplate      = "splice-amulet-name-service:Splice.Ans:AnsRules"
	ansEntryTemplate      = "splice-amulet-name-service:Splice.Ans:AnsEntry"
	dsoRulesTemplate      = "splice-dso-governance:Splice.DsoRules:DsoRules"
	nodeStateTemplate     = "splice-dso-governance:Splice.DSO.SvState:SvNodeState"
)

// stateOf returns a query for the present contracts of a template and the position that
// they are for: the end of what is known of contracts, whose record time is also the
// present for all that expires. While the newest migration has nothing but contracts
// carried over into it, the present is the end of the one before.
func (a *API) stateOf(ctx context.Context, template string) (history.StateQuery, schemas.Position, error) {
	q := history.StateQuery{Templates: bothSpellings([]string{values.Network(template)}), Limit: maxSetContracts + 1}
	at, err := a.statePosition(ctx)
	q.MigrationID, q.At = at.MigrationID, at.RecordTime
	return q, at, err
}

func (a *API) statePosition(ctx context.Context) (schemas.Position, error) {
	if err := a.requireHistory(ctx); err != nil {
		return schemas.Start, err
	}
	at, err := a.horizon.contracts.Get(ctx)
	if err != nil || at.RecordTime != schemas.MinMicros {
		return at, err
	}
	end, err := a.endBefore(ctx, at.MigrationID)
	if err != nil || end == schemas.MinMicros {
		return at, err
	}
	return a.lastBefore(ctx, at.MigrationID)
}

// lastBefore is the end of the newest migration with history before the given one.
func (a *API) lastBefore(ctx context.Context, migrationID int64) (schemas.Position, error) {
	migrations, err := a.horizon.migrations.Get(ctx)
	if err != nil {
		return schemas.Start, err
	}
	at := schemas.Start
	for _, m := range migrations {
		if m.ID < migrationID && len(m.Synchronizers) > 0 {
			_, end := span(m)
			at = schemas.Position{MigrationID: m.ID, RecordTime: end}
		}
	}
	return at, nil
}

// contract is a contract with its payload in compact JSON.
type contract struct {
	history.StateContract
	payload []byte
}

func (a *API) compacted(rows []history.StateContract) []contract {
	list := make([]contract, len(rows))
	w := values.Writer{Catalog: a.cfg.Catalog, Want: schemas.CompactJSON}
	for i := range rows {
		list[i] = contract{rows[i], w.For(rows[i].Encoding).AppendCreateArguments(nil, &rows[i].Event)}
	}
	return list
}

// contracts reads what a query finds.
func (a *API) contracts(ctx context.Context, q history.StateQuery) ([]contract, error) {
	rows, err := a.source.StateContracts(ctx, q)
	if err != nil {
		return nil, err
	}
	return a.compacted(rows), nil
}

// decode reads members of the payload into a struct.
func (c *contract) decode(into any) error {
	if err := json.Unmarshal(c.payload, into); err != nil {
		return fmt.Errorf("reading contract %s of %s: %w", c.Event.ContractID, c.Event.TemplateID, err)
	}
	return nil
}

// contractAnswer is a contract as the state operations give it. Public history does not
// carry the blob of a created event, so it is empty.
type contractAnswer struct {
	ContractID       string          `json:"contract_id"`
	CreatedAt        string          `json:"created_at"`
	CreatedEventBlob string          `json:"created_event_blob"`
	Payload          json.RawMessage `json:"payload"`
	TemplateID       string          `json:"template_id"`
}

func (c *contract) answer() *contractAnswer {
	return &contractAnswer{
		ContractID: c.Event.ContractID, CreatedAt: string(schemas.AppendShortTime(nil, c.Event.CreatedAt)),
		Payload: c.payload, TemplateID: c.Event.TemplateID,
	}
}

// withState is a contract and where it is.
type withState struct {
	Contract *contractAnswer `json:"contract,omitempty"`
	DomainID string          `json:"domain_id,omitempty"`
}

func (c *contract) withState() withState { return withState{c.answer(), c.SynchronizerID} }

// unlessCached leaves the contract out if the caller has it.
func (c *contract) unlessCached(have bool) withState {
	if have {
		return withState{DomainID: c.SynchronizerID}
	}
	return c.withState()
}

// maxSetContracts is the most contracts of a set that is held in memory: rules, rounds and
// the like, of which there are a few to some hundreds.
const maxSetContracts = 10_000

// setTTL is how many times as long as a watermark a set may be remembered: on a busy
// network the watermark moves all the time, and the sets hardly ever change.
const setTTL = 10

// contractSets remembers the present contracts of templates with few contracts, which many
// clients ask for again and again.
type contractSets struct {
	api *API
	all memo.Values[string, contractSet] // by template
}

type contractSet struct {
	loaded bool
	at     schemas.Position
	list   []contract
}

func newContractSets(a *API) *contractSets {
	s := &contractSets{api: a}
	s.all.New = func(template string) *memo.Value[contractSet] {
		var held contractSet // of the load before; loads do not run at the same time
		return &memo.Value[contractSet]{TTL: setTTL * a.cfg.WatermarkTTL, Now: a.cfg.Now, Load: func(ctx context.Context) (contractSet, error) {
			set, err := s.load(ctx, template, held)
			if err == nil {
				held = set
			}
			return set, err
		}}
	}
	return s
}

// get returns the contracts of a template, oldest first. They are shared and must not be
// changed.
func (s *contractSets) get(ctx context.Context, template string) ([]contract, error) {
	if err := s.api.requireHistory(ctx); err != nil {
		return nil, err
	}
	set, err := s.all.Get(ctx, template)
	return set.list, err
}

// load reads a set unless what is held is of the present position.
func (s *contractSets) load(ctx context.Context, template string, held contractSet) (contractSet, error) {
	q, at, err := s.api.stateOf(ctx, template)
	if err != nil || held.loaded && held.at == at {
		return held, err
	}
	list, err := s.api.contracts(ctx, q)
	if err != nil {
		return held, err
	}
	if len(list) > maxSetContracts {
		return held, fmt.Errorf("there are more than %d contracts of %s", maxSetContracts, template)
	}
	return contractSet{true, at, list}, nil
}

// latest returns the newest contract of a template, nil when there is none.
func (s *contractSets) latest(ctx context.Context, template string) (*contract, error) {
	list, err := s.get(ctx, template)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[len(list)-1], nil
}

// produceContracts answers with all present contracts that q selects, however many, as the
// member name of an object.
func (a *API) produceContracts(ctx context.Context, r *query.Request, name string, q history.StateQuery, answer func(*contract) any) error {
	p := &page[contract, *contract]{
		sizes: &a.stateSizes, target: a.cfg.ChunkBytes, left: maxAnswerContracts, open: `{"` + name + `":[`, close: `]}`,
		key: func(c *contract) *contract { return c },
		read: func(ctx context.Context, after *contract, limit int) ([]contract, error) {
			q := q
			q.Limit = limit
			if after != nil {
				q.AfterCreatedAt, q.AfterContractID = after.Event.CreatedAt, after.Event.ContractID
			}
			return a.contracts(ctx, q)
		},
		write: func(dst []byte, c *contract) []byte { return appendJSON(dst, answer(c)) },
	}
	if p.sizes.Average() == 0 {
		p.sizes.Saw(1, firstSizeGuess) // an unbounded list is never read at once
	}
	return produce(ctx, r, p)
}

const (
	// maxAnswerContracts is more than a list without pages ever has.
	maxAnswerContracts = 1 << 30
	firstSizeGuess     = 2 << 10
)

// appendJSON appends v, which is made of texts, numbers and valid JSON, without escapes
// that JSON does not demand.
func appendJSON(dst []byte, v any) []byte {
	w := appender{dst}
	e := json.NewEncoder(&w)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("encoding %T: %v", v, err)) // cannot be: see above
	}
	return w.dst[:len(w.dst)-1] // without the line's end
}

type appender struct{ dst []byte }

// Write appends p.
func (w *appender) Write(p []byte) (int, error) {
	w.dst = append(w.dst, p...)
	return len(p), nil
}

// errNone answers for a ledger that has no contract of a kind yet.
func errNone(what string) error { return query.Errorf(query.NotFound, "No %s found.", what) }
