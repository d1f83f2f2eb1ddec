package state

import (
	"context"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/scan/horizon"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Source reads the network's present state; *history.Reader does.
type Source interface {
	// StateContracts are ascending by (created_at, contract id), StateContractsNewest
	// descending and from a creation time on. StateContractsSince has ended ones, too.
	StateContracts(ctx context.Context, q history.StateQuery) ([]history.StateContract, error)
	StateContractsNewest(ctx context.Context, q history.StateQuery, createdAt schemas.Micros) ([]history.StateContract, error)
	StateContractsSince(ctx context.Context, q history.StateQuery, since schemas.Micros) ([]history.StateContract, error)
	// EndingPages hands out the exercises of a choice that ends contracts, ExercisesAt those at
	// instants of one migration, both as updates with one event each, ascending by position and node.
	EndingPages(ctx context.Context, e history.Ending, rg history.Range, each func([]schemas.Update) error) error
	ExercisesAt(ctx context.Context, choice string, migrationID int64, times []schemas.Micros) ([]schemas.Update, error)
	// ContractHistory is ascending by position and node.
	ContractHistory(ctx context.Context, q history.ContractQuery) ([]history.ContractStep, error)
	// Updates are ascending by position and without imports.
	Updates(ctx context.Context, rg history.Range) ([]schemas.Update, error)
	// TrafficCost is what the members' transactions cost on a synchronizer, in bytes.
	TrafficCost(ctx context.Context, through schemas.Position, synchronizerID string, members []string) (int64, error)
	// ActivityRounds are the first and the last round with app activity, if any.
	ActivityRounds(ctx context.Context, through schemas.Position) (first, last int64, ok bool, err error)
	// MovementsWatermark is the position up to which the others know what parties have in mining rounds. See
	// history.Rounds.
	MovementsWatermark(ctx context.Context) (schemas.Position, error)
	RoundSums(ctx context.Context, through schemas.Position, party string, first, last int64) ([]history.RoundSum, error)
	RoundPartySums(ctx context.Context, through schemas.Position, first, last int64, limit int) ([]history.RoundSum, error)
	RoundLeaders(ctx context.Context, through schemas.Position, by string, round int64, limit int) ([]history.RoundSum, error)
	// Fact is the latest one of a key, schemas.ErrNotFound if there is none.
	Fact(ctx context.Context, key facts.Key) (facts.Fact, error)
}

// Config says what the operations read. All members but Upstream and Blobs are required.
type Config struct {
	Source  Source
	Horizon *horizon.Horizon
	// Upstream is asked for what depends on the client's request and is not in history;
	// without it the store answers alone.
	Upstream Upstream
	// Blobs finds the blobs of contracts; without it there are none.
	Blobs Blobs
	// Supply sums up the coins.
	Supply  Supply
	Catalog *values.Catalog
	// Naming is the spelling of members of answers.
	Naming query.Naming
	// MaxPageSize caps page_size and limit.
	MaxPageSize int
	// ChunkBytes is about how much of a list is read from the store at a time.
	ChunkBytes int64
	// TTL is how long rules, rounds and the like may be remembered.
	TTL time.Duration
	Now func() time.Time
}

// API is the operations. It is safe for concurrent use.
type API struct {
	rounds     *rounds
	governance *governance
	votes      *votes
	apps       *featuredApps
	names      *names
	transfers  *transfers
	traffic    *traffic
	validators *validators
	network    *network
	rewards    *rewards
	registry   *registry
	aggregates *aggregates
}

// New returns the operations.
func New(cfg Config) *API {
	present := &contracts{source: cfg.Source, horizon: cfg.Horizon, catalog: cfg.Catalog, blobs: cfg.Blobs, chunkBytes: cfg.ChunkBytes}
	sets := newContractSets(present, cfg.TTL, cfg.Now)
	facts := &factReader{source: cfg.Source, upstream: cfg.Upstream, cached: cachedFacts(cfg.Source, cfg.Now)}
	a := &API{
		rounds:     &rounds{sets, cfg.Naming},
		governance: &governance{sets, facts, cfg.Horizon, cfg.Naming},
		votes:      &votes{sets, newVoteResults(present, cfg.TTL, cfg.Now), cfg.MaxPageSize, cfg.Naming},
		apps:       &featuredApps{present},
		transfers:  &transfers{present},
		traffic:    &traffic{present},
		validators: &validators{present, cfg.MaxPageSize},
		network:    &network{facts, cfg.Horizon, cfg.Naming},
	}
	a.names = &names{present, a.governance, facts, cfg.MaxPageSize}
	a.registry = &registry{a.governance, facts, present, a.transfers, a.apps, cfg.Supply}
	a.aggregates = &aggregates{newAggregatedRounds(sets, cfg.TTL, cfg.Now), cfg.Source, a.validators, cfg.Naming, cfg.MaxPageSize}
	a.rewards = &rewards{cfg.Source, cfg.Horizon, facts, a.rounds}
	return a
}

// Routes lists the operations.
func (a *API) Routes() []query.Route {
	return query.BothPaths(slices.Concat(a.contractRoutes(), a.factRoutes(), a.registryRoutes(), a.aggregateRoutes()))
}
