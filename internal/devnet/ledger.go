package devnet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Ledger is a simulated ledger with its history. Its methods may be called
// concurrently; Close comes last.
type Ledger struct {
	config  Config
	names   *names
	past    pastLedgers
	view    *nodeView // nil if no participant's view is kept
	store   *store
	ownsDir bool
	parties *nodeParties // what is known about parties; has a lock of its own

	mu        sync.Mutex // guards all below: held while executing
	executor  *executor
	submitter *submitter
	pipeline  *pipeline
	failed    error    // of an earlier execution; the ledger is unusable then
	finals    []uint32 // numbers of updates after which an execution ended
	closed    bool
	active    *tables // digest of the active contracts, nil after execution

	commander *commander
	journal   journal

	// Of a ledger that is kept:
	lock      *flock.Flock // of its folder
	network   *Network
	kept      kept
	delegates bool // whether delegates are to send from now on
}

// New creates a ledger and executes c.Updates updates, and what happened to it since if it was
// kept. progress, if not nil, is
// called now and then with the updates that are done, from one goroutine at a time.
func New(ctx context.Context, c Config, progress func(done, total int)) (*Ledger, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	l := &Ledger{config: c, parties: newNodeParties(), delegates: c.DelegatesSend}
	if err := l.open(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if err := l.begin(ctx, progress); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// open creates the data files and a ledger at its beginning.
func (l *Ledger) open() error {
	if l.config.Dir == "" {
		dir, err := os.MkdirTemp("", "devnet-")
		if err != nil {
			return fmt.Errorf("creating folder of devnet: %w", err)
		}
		l.config.Dir, l.ownsDir = dir, true
	} else if err := os.MkdirAll(l.config.Dir, 0o755); err != nil {
		return fmt.Errorf("creating folder of devnet: %w", err)
	}
	l.journal.dir = l.config.Dir
	if l.config.Keep {
		if err := openKept(l); err != nil {
			return err
		}
	}
	l.names = newNames(l.config.Seed, l.config.Updates, l.config.Synchronizers)
	var err error
	if l.config.Node != nil {
		if l.view, err = newNodeView(l.config, l.names); err != nil {
			return err
		}
		if err := checkNode(l); err != nil {
			return err
		}
	}
	if l.store, err = openStore(l.config.Dir, l.names, skippedFiles(l)...); err != nil {
		return err
	}
	if l.view != nil {
		l.store.node = newNodeIndex()
	}
	l.store.startMigration()
	l.executor = newExecutor(executedConfig(l), l.names)
	l.submitter = newSubmitter(l.executor)
	l.pipeline = newPipeline(l)
	l.commander = newCommander(l)
	return nil
}

// executedConfig is the configuration to execute history with: what a node's clients did needs its
// private transactions, whether its view is kept or not.
func executedConfig(l *Ledger) Config {
	c := l.config
	if c.Node == nil && l.kept.submitted {
		c.Node = &NodeConfig{}
	}
	return c
}

// begin executes the first updates, and what happened since to a ledger that was kept.
func (l *Ledger) begin(ctx context.Context, progress func(done, total int)) error {
	first := progress
	if progress != nil && l.kept.updates > 0 {
		first = func(done, total int) { progress(done, total+l.kept.updates) }
	}
	if err := l.pipeline.run(ctx, l.config.Updates, first); err != nil {
		return err
	}
	l.finals = append(l.finals, uint32(l.executor.tx.updates))
	if !l.config.Keep {
		return nil
	}
	return resume(l, ctx, progress)
}

// skippedFiles are the data files that the configuration does without.
func skippedFiles(l *Ledger) (skip []fileNumber) {
	if l.config.SkipCompact {
		skip = append(skip, compactFile)
	}
	if l.config.Node == nil {
		skip = append(skip, nodeFile, nodeRecordFile)
	}
	return skip
}

// Close waits for what is being executed. It removes the data files if they are in a temporary
// folder, else only closes them.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	if l.failed == nil {
		l.failed = errClosed
	}
	err := l.journal.close()
	if l.store != nil {
		err = errors.Join(err, l.store.close())
	}
	if l.lock != nil {
		err = errors.Join(err, l.lock.Close())
	}
	if l.ownsDir {
		err = errors.Join(err, os.RemoveAll(l.config.Dir))
	}
	return err
}

// Advance executes n further updates. Record times continue from the last one with
// the mean distance of the history so far. Batches are visible to readers as soon
// as they are executed; when ctx ends, some of the n may be.
func (l *Ledger) Advance(ctx context.Context, n int) error {
	if n <= 0 {
		return nil
	}
	return l.execute(ctx, n, nil)
}

// Run executes about perSecond updates a second until ctx ends, then returns nil. Their record
// times are as far apart as those of the history; once they have come up with the wall clock,
// time goes on with that, as in RunLive.
func (l *Ledger) Run(ctx context.Context, perSecond float64) error {
	if perSecond <= 0 {
		return fmt.Errorf("devnet cannot execute %g updates per second", perSecond)
	}
	// At least two at once: the last of a run is never a reassignment.
	period := max(100*time.Millisecond, time.Duration(2/perSecond*float64(time.Second)))
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	due := 0.0
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		due += perSecond * period.Seconds()
		n := int(due)
		due -= float64(n)
		if reachesClock(l, n) {
			return l.RunLive(ctx, perSecond)
		}
		if err := l.Advance(ctx, n); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// reachesClock reports whether n further updates could be in the future.
func reachesClock(l *Ledger, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.executor.clock.recordTime+2*int64(n)*l.executor.clock.gap > time.Now().UnixMicro()
}

func (l *Ledger) execute(ctx context.Context, n int, progress func(done, total int)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.executeLocked(ctx, n, progress)
}

// executeLocked is execute for a caller that holds the lock.
func (l *Ledger) executeLocked(ctx context.Context, n int, progress func(done, total int)) error {
	if l.failed != nil {
		return l.failed
	}
	if l.executor.tx.updates+n > maxUpdates {
		return fmt.Errorf("devnet holds at most %d updates", maxUpdates)
	}
	err := l.runLocked(ctx, n, progress)
	if err != nil && ctx.Err() == nil {
		l.failed = fmt.Errorf("devnet stopped: %w", err)
		return l.failed
	}
	return err
}

// runLocked has the simulated users make n updates. Those of a kept ledger are in the journal
// first, and then all of them are executed.
func (l *Ledger) runLocked(ctx context.Context, n int, progress func(done, total int)) error {
	if l.journal.kept {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.journal.add(journalEntry{Entries: l.executor.tx.entries, Run: n}); err != nil {
			return err
		}
		ctx = context.WithoutCancel(ctx)
	}
	l.active = nil
	if err := l.pipeline.run(ctx, n, progress); err != nil {
		return err
	}
	l.finals = append(l.finals, uint32(l.executor.tx.updates))
	return nil
}

// Network says which network the ledger is of if it is kept, the zero value otherwise.
func (l *Ledger) Network() Network {
	if l.network == nil {
		return Network{}
	}
	return *l.network
}

// Updates is the number of updates so far.
func (l *Ledger) Updates() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.executor.tx.updates
}

// DelegatesSend reports whether transfer commands are left to their delegates: a kept ledger
// for which that was once asked goes on so.
func (l *Ledger) DelegatesSend() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.executor.config.DelegatesSend
}

// Digests returns what the ledger has served so far. It waits for an execution
// that is going on.
func (l *Ledger) Digests() Digests {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active == nil {
		l.active = digestActive(l)
	}
	all := l.store.digests()
	all.merge(l.active)
	return Digests{Tables: all.export(), Supply: l.executor.bank.supply.export(), Counts: Counts{
		Updates:          all[tableUpdates].Rows,
		Events:           all[tableEvents].Rows,
		ContractsCreated: l.executor.tx.created,
		ActiveContracts:  all[tableActiveContracts].Rows,
		Rounds:           uint64(l.executor.rounds.roundsOpened()),
	}}
}

func digestActive(l *Ledger) *tables {
	r := renderer{names: l.names}
	t := new(tables)
	var row []byte
	for _, c := range l.executor.tx.active {
		row = r.activeContract(row[:0], c)
		t[tableActiveContracts].Add(row)
	}
	return t
}

// Supply returns the coin supply.
func (l *Ledger) Supply() Supply {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.executor.bank.supply.export()
}

// GovernanceParty is the party that sees all public history.
func (l *Ledger) GovernanceParty() string { return l.names.name(dso) }

// NodeDigests returns what the node's stream has had so far, the zero value if no
// participant's view is kept.
func (l *Ledger) NodeDigests() NodeDigests {
	if l.view == nil {
		return NodeDigests{}
	}
	l.store.mu.RLock()
	defer l.store.mu.RUnlock()
	d := NodeDigests{Stream: schemas.NodeStream(l.view.uid()), ParticipantID: l.view.uid(),
		MigrationID: l.view.migration, LedgerEnd: l.store.ledgerEnd(l.view), Tables: map[string]TableDigest{}}
	for i, name := range [nodeTableCount]string{"updates", "events"} {
		t := &l.store.node.tables[i]
		d.Tables[name] = TableDigest{t.Rows, t.Hash()}
	}
	return d
}
