package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// The checks, in the order in which they are reported.
const (
	// Batches: the commits of each journal follow one another without a gap, nothing but
	// one pending intent is left over, and each batch has as many rows as it was
	// committed with.
	Batches = "batches"
	// Hashes: the content of each batch, from the stored rows, has the hash it was
	// committed with.
	Hashes = "hashes"
	// Days: each day has the same rows as at a peer.
	Days = "days"
	// Verdicts: each verdict that commits what the governance party is informed of has its
	// update, and verdicts on the transactions of public history have no gap.
	Verdicts = "verdicts"
	// Lifetimes: those that follow from the events are those that the store has. What the
	// governance party signs does not end without having begun, and migrations begin with what
	// was active before.
	Lifetimes = "lifetimes"
	// Coins: coins come into being and disappear only by choices that mint and burn. Of a
	// node's own stream this holds for what the node sees whole: see coins_node.go.
	Coins = "coins"
	// Rewards: the activity of apps follows from verdicts, and what apps may mint for it from the
	// activity, with the root that the network published. See rewards.go.
	Rewards = "rewards"
	// Lookups: the copies of items by update id are those of the items. See copies.go.
	Lookups = "lookups"
	// Indexes: samples of history are found by their ids, too. See indexes.go.
	Indexes = "indexes"
)

// Names are the names of the checks.
func Names() []string {
	return []string{Batches, Hashes, Days, Verdicts, Lifetimes, Coins, Rewards, Lookups, Indexes}
}

// Source gives the rows of a stream as they are stored; *audit.Reader is one.
type Source interface {
	Stream() string
	Watermark(ctx context.Context) (schemas.Position, error)
	ContractsWatermark(ctx context.Context) (schemas.Position, error)
	Journal(ctx context.Context) ([]journals.Row, error)
	ContractsJournal(ctx context.Context) ([]journals.Row, error)
	RowsAbove(ctx context.Context, mark schemas.Position) (map[string]uint64, error)
	Stretch(ctx context.Context, after, through schemas.Position, texts bool, party string) (*audit.Stretch, error)
}

// Public answers about public history as the query tier does; *history.Reader is one.
type Public interface {
	ActiveSource
	Index
	RewardSource
}

// Node answers about a node's own stream as the query tier does; *node.Reader of package
// history/node is one.
type Node interface {
	ActiveAtOffset(ctx context.Context, q nodehistory.ActiveAtQuery) ([]nodehistory.ActiveLifetime, error)
	NodeIndex
}

// Audit is what SQL answers about the store; *audit.Queries is one.
type Audit interface {
	LifetimeSums(ctx context.Context) (sums []audit.LifetimeSum, backwards uint64, err error)
	LifetimeSteps(ctx context.Context, buckets []int, through schemas.Position, each func(audit.LifetimeStep) error) error
	WrongOrigins(ctx context.Context, portion, portions int, each func(audit.Origin) error) error
	WrongEnds(ctx context.Context, portion, portions int, each func(audit.WrongEnd) error) error
	WrongPlaces(ctx context.Context, mark schemas.Position, each func(audit.WrongPlaces) error) error
	GovernanceParty(ctx context.Context) (string, error)
	SignedTemplates(ctx context.Context, party string, templates []string) ([]string, error)
	WrongCarries(ctx context.Context, party string, migration, next int64, each func(audit.WrongCarry) error) error
}

// Config says what is verified and how.
type Config struct {
	Source Source // required
	// Public or Node is needed, whichever the stream is of.
	Public Public
	Node   Node
	// Audit is needed by Batches, to see rows that no batch has, by Verdicts and by Lifetimes.
	Audit Audit
	// Checks to do, of Names; empty means all but Days, Lookups and Rewards where what they need
	// is not given.
	Checks []string
	// Copies are what Lookups is about, nil where there are none.
	Copies Copies
	// Peer is compared with by Days.
	Peer Peer
	// Catalog tells Coins what choices do, and Rewards what contracts have; default values.Default().
	Catalog *values.Catalog
	// SkipDigests leaves Report.Total and Segments empty, which spares a SHA-256 of each
	// row for checks that do not need it. Days does.
	SkipDigests bool
	// Segments is the length of those by which Report.Segments and Days go, that of the
	// published ones; default days.
	Segments schemas.SegmentLength
	// Workers read side by side; default as many as there are processors.
	Workers int
	// Findings is how many findings of each check are kept; default 100.
	Findings int
	// Progress, when set, is told how many updates and verdicts have been read and how
	// many there are, one call at a time.
	Progress func(done, total int64)
}

// Report is what a store holds and what is wrong with it.
type Report struct {
	// Items is how many updates and verdicts were read.
	Items int64
	// Total covers everything; its active_contracts are those at the watermark.
	Total Tables
	// Segments split the tables of Total, without active contracts, by segment.
	Segments map[schemas.SegmentRef]Tables
	// Checks in the order of Names.
	Checks []*Check
	// Supply of coins, nil unless Coins was checked, and for a node's own stream.
	Supply *Supply
}

func (c *Config) setDefaults() error {
	c.Workers = cmp.Or(max(c.Workers, 0), runtime.GOMAXPROCS(0))
	c.Findings = cmp.Or(max(c.Findings, 0), 100)
	if c.Progress == nil {
		c.Progress = func(int64, int64) {}
	}
	c.Catalog = cmp.Or(c.Catalog, values.Default())
	for _, name := range c.Checks {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("there is no check %q; the checks are %s", name, strings.Join(Names(), ", "))
		}
	}
	if len(c.Checks) == 0 {
		c.Checks = Names()
		if c.Peer == nil {
			c.Checks = slices.DeleteFunc(c.Checks, func(n string) bool { return n == Days })
		}
		if c.Public == nil {
			c.Checks = slices.DeleteFunc(c.Checks, func(n string) bool { return n == Rewards })
		}
		if c.Copies == nil {
			c.Checks = slices.DeleteFunc(c.Checks, func(n string) bool { return n == Lookups })
		}
	}
	switch {
	case c.Source == nil:
		return errors.New("verification needs a source")
	case c.has(Days) && c.SkipDigests:
		return errors.New("check days compares digests, which were not requested")
	case c.has(Days) && c.Peer == nil:
		return errors.New("check days compares with a peer, and there is none")
	case c.has(Rewards) && c.Public == nil:
		return errors.New("check rewards is about public history, and there is none")
	case c.has(Lookups) && c.Copies == nil:
		return errors.New("check lookups verifies copies by update id, and there are none")
	case (c.has(Lifetimes) || c.has(Verdicts)) && c.Audit == nil:
		return errors.New("checks lifetimes and verdicts need an audit of the store")
	}
	return nil
}

func (c *Config) has(name string) bool { return slices.Contains(c.Checks, name) }

// verification is one run under way.
type verification struct {
	cfg     Config
	mark    schemas.Position
	journal *journal
	checks  map[string]*Check
	total   int64            // items
	apart   bool             // only some batches are read
	damaged []journals.Row   // batches that are not as they were committed
	last    schemas.Position // of the last item of history

	party      string  // whose view public history is; empty if not known or not needed
	migrations []int64 // those that history has
	updates    bool    // history has updates
	whole      bool    // and it begins where nothing was active, or with all that was
	gaps       verdictGaps
	endings    map[string]*endings // by template

	report *Report
	sums   []audit.LifetimeSum // from events
	ledger *coinLedger
	coins  chan *coinReader // those that no worker has; they remember what they have seen
	held   heldSet
}

// Run verifies a store up to its watermark. What is wrong is in the report; an error means
// that it could not be verified. Every row of history is read once, for all checks.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	v := &verification{cfg: cfg, checks: make(map[string]*Check), report: &Report{Segments: make(map[schemas.SegmentRef]Tables)}}
	for _, name := range Names() {
		if cfg.has(name) {
			v.checks[name] = NewCheck(name, cfg.Findings)
			v.report.Checks = append(v.report.Checks, v.checks[name])
		}
	}
	if err := v.begin(ctx); err != nil {
		return nil, err
	}
	group, groupCtx := guard.WithContext(ctx)
	var stored []audit.LifetimeSum
	if cfg.has(Lifetimes) {
		group.Go(func() (err error) {
			if stored, err = v.storedLifetimes(groupCtx); err != nil {
				return err
			}
			if err := v.wrongOrigins(groupCtx, stored); err != nil || v.mark.Offset == 0 {
				return err
			}
			return v.wrongEnds(groupCtx, stored)
		})
	}
	if c := v.checks[Batches]; c != nil && cfg.Audit != nil {
		group.Go(func() error { return v.rowsAbove(groupCtx, c) })
		group.Go(func() error { return v.wrongPlaces(groupCtx, c) })
	}
	group.Go(func() error { return v.readHeld(groupCtx) })
	group.Go(func() error { return v.readHistory(groupCtx) })
	if cfg.has(Lookups) {
		group.Go(func() error { return v.compareCopies(groupCtx) })
	}
	if cfg.has(Rewards) && v.mark.Offset == 0 && v.mark != schemas.Start {
		group.Go(func() error { return v.checkRewards(groupCtx) })
	}
	if cfg.has(Indexes) {
		group.Go(func() error { return v.lookUp(groupCtx) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if err := v.finish(ctx, stored); err != nil {
		return nil, err
	}
	return v.report, nil
}

// begin reads where the store stands and checks the journals.
func (v *verification) begin(ctx context.Context) error {
	var err error
	if v.mark, err = v.cfg.Source.Watermark(ctx); err != nil {
		return err
	}
	contracts, err := v.cfg.Source.ContractsWatermark(ctx)
	if err != nil {
		return err
	}
	if contracts != v.mark {
		return fmt.Errorf("contract lifetimes are at %s, history at %s: let ingest finish first", contracts, v.mark)
	}
	if v.journal, err = v.readJournals(ctx); err != nil {
		return err
	}
	if c := v.journal.commits; v.cfg.has(Hashes) && len(c) > 0 && !audit.IsBatchHash(c[0].Hash) {
		return fmt.Errorf("check hashes: batch %d of %s has hash %s: an earlier version, which computed hashes differently, wrote it; ingest into a new store", c[0].Sequence, c[0].Stream, c[0].Hash)
	}
	if err := v.findParty(ctx); err != nil {
		return err
	}
	v.last = schemas.Start
	for _, c := range v.journal.commits {
		v.total += int64(c.Items)
	}
	if v.cfg.has(Lifetimes) {
		v.sums = make([]audit.LifetimeSum, audit.LifetimeBuckets)
	}
	if v.cfg.has(Coins) {
		v.ledger = newCoinLedger(v.checks[Coins], v.cfg.Catalog)
		v.coins = make(chan *coinReader, v.cfg.Workers)
		known := newCoinKinds()
		for range v.cfg.Workers {
			v.coins <- newCoinReader(v.cfg.Catalog, known)
		}
	}
	return nil
}

// finish does what needs the whole history.
func (v *verification) finish(ctx context.Context, stored []audit.LifetimeSum) error {
	var parts []Tables
	for _, t := range v.report.Segments {
		parts = append(parts, t)
	}
	if !v.cfg.SkipDigests {
		v.report.Total = Sum(parts...)
	}
	if v.cfg.has(Lifetimes) {
		if err := v.compareLifetimes(ctx, stored); err != nil {
			return err
		}
		if err := v.compareCarried(ctx); err != nil {
			return err
		}
	}
	if err := v.compareHeld(ctx); err != nil {
		return err
	}
	if v.cfg.has(Days) {
		return v.comparePeer(ctx)
	}
	return nil
}
