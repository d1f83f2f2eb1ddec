package history

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/state_contracts.sql
	stateContractsQuery string
	//go:embed sql/state_contracts_newest.sql
	stateContractsNewestQuery string
	//go:embed sql/state_contracts_since.sql
	stateContractsSinceQuery string
	//go:embed sql/traffic_cost.sql
	trafficCostQuery string
	//go:embed sql/activity_rounds.sql
	activityRoundsQuery string
)

// StateContract is a contract as the state of the network shows it.
type StateContract = store.StateRow

// StateQuery selects contracts of some templates. Its other members, unless they are
// empty, narrow them down; each of them is looked up in an index.
type StateQuery struct {
	MigrationID int64
	// At is the record time at which the contracts are active. It must not lie above
	// ContractsWatermark; MinMicros means the contracts that were carried over.
	At schemas.Micros
	// Templates are names as the store has them, "PACKAGE_NAME:Module:Entity".
	Templates []string
	// Signatory and Observer are parties that the contract has as such.
	Signatory, Observer string
	// Key is the text by which contracts of the template are looked up, see column
	// lookup_key; KeyPrefix is how it begins.
	Key, KeyPrefix string
	// ContractID is the one contract to find.
	ContractID string
	// AfterCreatedAt and AfterContractID are the key of the last contract of the page
	// before, exclusive; AfterContractID "" starts from the beginning.
	AfterCreatedAt  schemas.Micros
	AfterContractID string
	Limit           int
}

// State reads the state of the network out of the contracts of one stream. It is safe for
// concurrent use.
type State struct {
	db     *store.DB
	stream string
	// streams are the stream and, where the reader has one, what completes it: see WithSide.
	streams []string
}

// State returns a reader of the state that the stream tells.
func (r *Reader) State() *State {
	s := &State{db: r.db, stream: r.stream, streams: []string{r.stream}}
	if r.side != nil {
		s.streams = append(s.streams, r.side.stream)
	}
	return s
}

// StateContracts returns contracts active at an instant, ascending by (created_at,
// contract id).
func (s *State) StateContracts(ctx context.Context, q StateQuery) ([]StateContract, error) {
	after := store.BeforeHistory
	if q.AfterContractID != "" {
		after = q.AfterCreatedAt
	}
	params := s.stateParams(q)
	params["after_created"], params["after_id"] = store.Time(store.Clamp(after)), store.Text(q.AfterContractID)
	return s.selectState(ctx, stateContractsQuery, params)
}

// StateContractsNewest returns contracts active at an instant and created at or before
// another one, descending by (created_at, contract id). Of the After members AfterContractID counts: of those
// created at that other instant it leaves only those with smaller ids.
func (s *State) StateContractsNewest(ctx context.Context, q StateQuery, createdAt schemas.Micros) ([]StateContract, error) {
	params := s.stateParams(q)
	params["before_created"], params["before_id"] = store.Time(store.Clamp(createdAt)), store.Text(q.AfterContractID)
	return s.selectState(ctx, stateContractsNewestQuery, params)
}

// StateContractsSince returns contracts created at since or later and seen up to q.At,
// also those that have ended by then, ascending by (created_at, contract id). Of the
// narrowing members only Key counts, which is that of the contracts, so empty for templates without
// keys.
func (s *State) StateContractsSince(ctx context.Context, q StateQuery, since schemas.Micros) ([]StateContract, error) {
	return s.selectState(ctx, stateContractsSinceQuery, store.Params{
		"stream": store.Text(s.stream), "migration": store.Int(q.MigrationID), "at": store.Time(store.Clamp(q.At)),
		"templates": store.Texts(q.Templates), "key": store.Text(q.Key),
		"since": store.Time(store.Clamp(since)), "limit": store.Int(int64(q.Limit)),
	})
}

func (s *State) stateParams(q StateQuery) store.Params {
	return store.Params{
		"stream": store.Text(s.stream), "migration": store.Int(q.MigrationID), "at": store.Time(store.Clamp(q.At)),
		"templates": store.Texts(q.Templates), "signatory": store.Text(q.Signatory), "observer": store.Text(q.Observer),
		"key": store.Text(q.Key), "prefix": store.Text(q.KeyPrefix), "limit": store.Int(int64(q.Limit)),
		"contract": store.Text(q.ContractID),
	}
}

func (s *State) selectState(ctx context.Context, query string, params store.Params) ([]StateContract, error) {
	contracts, err := store.SelectAll(ctx, s.db, query, params, store.NewStateContracts())
	if err != nil {
		return nil, fmt.Errorf("reading contracts of %s: %w", params["templates"], err)
	}
	return contracts, nil
}

// TrafficCost returns the bytes of traffic that transactions submitted by any of the
// members cost on a synchronizer, as far as traffic summaries are held at or below a
// position.
func (s *State) TrafficCost(ctx context.Context, through schemas.Position, synchronizerID string, members []string) (int64, error) {
	cost, _, err := store.SelectOne(ctx, s.db, trafficCostQuery, store.Params{
		"streams": store.Texts(s.streams), "migration": store.Int(through.MigrationID), "at": store.Time(store.Clamp(through.RecordTime)),
		"synchronizer": store.Text(synchronizerID), "members": store.Texts(members),
	}, store.NewRecords[store.Count]())
	if err != nil {
		return 0, fmt.Errorf("adding up the traffic of %v: %w", members, err)
	}
	return int64(cost.N), nil
}

// ActivityRounds returns the first and the last mining round of which app activity is
// held at or below a position; ok is false when there is none.
func (s *State) ActivityRounds(ctx context.Context, through schemas.Position) (first, last int64, ok bool, err error) {
	rounds, ok, err := store.SelectOne(ctx, s.db, activityRoundsQuery, store.Params{
		"streams": store.Texts(s.streams), "migration": store.Int(through.MigrationID), "at": store.Time(store.Clamp(through.RecordTime)),
	}, store.NewRecords[store.Span]())
	if err != nil {
		return 0, 0, false, fmt.Errorf("reading the rounds with app activity: %w", err)
	}
	return rounds.First, rounds.Last, ok, nil
}
