package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Ledger is a simulated ledger with its history. Its methods may be called
// concurrently; Close comes last.
type Ledger struct {
	Config  sim.Config
	Names   *model.Names
	past    pastLedgers
	View    *history.NodeView // nil if no participant's view is kept
	Store   *history.Store
	ownsDir bool
	Parties *NodeParties // what is known about parties; has a lock of its own

	Mu        sync.Mutex // guards all below: held while executing
	Executor  *sim.Executor
	submitter *choices.Submitter
	pipeline  *pipeline
	failed    error    // of an earlier execution; the ledger is unusable then
	Finals    []uint32 // numbers of updates after which an execution ended
	closed    bool
	active    *history.Tables // digest of the active contracts, nil after execution

	Commander *commander
	Journal   Journal

	// Of a ledger that is kept:
	lock      *flock.Flock // of its folder
	network   *Network
	Kept      kept
	delegates bool // whether delegates are to send from now on
}

// New creates a ledger and executes c.Updates updates, and what happened to it since if it was
// kept. progress, if not nil, is
// called now and then with the updates that are done, from one goroutine at a time.
func New(ctx context.Context, c sim.Config, progress func(done, total int)) (*Ledger, error) {
	c, err := c.WithDefaults()
	if err != nil {
		return nil, err
	}
	l := &Ledger{Config: c, Parties: newNodeParties(), delegates: c.DelegatesSend}
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
	if l.Config.Dir == "" {
		dir, err := os.MkdirTemp("", "devnet-")
		if err != nil {
			return fmt.Errorf("creating the folder of devnet: %w", err)
		}
		l.Config.Dir, l.ownsDir = dir, true
	} else if err := os.MkdirAll(l.Config.Dir, 0o755); err != nil {
		return fmt.Errorf("creating the folder of devnet: %w", err)
	}
	l.Journal.dir = l.Config.Dir
	if l.Config.Keep {
		if err := openKept(l); err != nil {
			return err
		}
	}
	l.Names = model.NewNames(l.Config.Seed, l.Config.Updates, l.Config.Synchronizers)
	var err error
	if l.Config.Node != nil {
		if l.View, err = history.NewNodeView(l.Config, l.Names); err != nil {
			return err
		}
		if err := checkNode(l); err != nil {
			return err
		}
	}
	if l.Store, err = history.OpenStore(l.Config.Dir, l.Names, skippedFiles(l)...); err != nil {
		return err
	}
	if l.View != nil {
		l.Store.Node = history.NewNodeIndex()
	}
	l.Store.StartMigration()
	l.Executor = sim.NewExecutor(executedConfig(l), l.Names)
	l.submitter = choices.NewSubmitter(l.Executor)
	l.pipeline = newPipeline(l)
	l.Commander = newCommander(l)
	return nil
}

// executedConfig is the configuration to execute history with: what a node's clients did needs its
// private transactions, whether its view is kept or not.
func executedConfig(l *Ledger) sim.Config {
	c := l.Config
	if c.Node == nil && l.Kept.submitted {
		c.Node = &sim.NodeConfig{}
	}
	return c
}

// begin executes the first updates, and what happened since to a ledger that was kept.
func (l *Ledger) begin(ctx context.Context, progress func(done, total int)) error {
	first := progress
	if progress != nil && l.Kept.updates > 0 {
		first = func(done, total int) { progress(done, total+l.Kept.updates) }
	}
	if err := l.pipeline.run(ctx, l.Config.Updates, first); err != nil {
		return err
	}
	l.Finals = append(l.Finals, uint32(l.Executor.Tx.Updates))
	if !l.Config.Keep {
		return nil
	}
	return resume(l, ctx, progress)
}

// skippedFiles are the data files that the configuration does without.
func skippedFiles(l *Ledger) (skip []history.FileNumber) {
	if l.Config.SkipCompact {
		skip = append(skip, history.CompactFile)
	}
	if l.Config.Node == nil {
		skip = append(skip, history.NodeFile, history.NodeRecordFile)
	}
	return skip
}

// Close waits for what is being executed. It removes the data files if they are in a temporary
// folder, else only closes them.
func (l *Ledger) Close() error {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	if l.failed == nil {
		l.failed = ErrClosed
	}
	err := l.Journal.close()
	if l.Store != nil {
		err = errors.Join(err, l.Store.Close())
	}
	if l.lock != nil {
		err = errors.Join(err, l.lock.Close())
	}
	if l.ownsDir {
		err = errors.Join(err, os.RemoveAll(l.Config.Dir))
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
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return l.Executor.Clock.RecordTime+2*int64(n)*l.Executor.Clock.Gap > time.Now().UnixMicro()
}

func (l *Ledger) execute(ctx context.Context, n int, progress func(done, total int)) error {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return l.executeLocked(ctx, n, progress)
}

// executeLocked is execute for a caller that holds the lock.
func (l *Ledger) executeLocked(ctx context.Context, n int, progress func(done, total int)) error {
	if l.failed != nil {
		return l.failed
	}
	if l.Executor.Tx.Updates+n > sim.MaxUpdates {
		return fmt.Errorf("devnet holds at most %d updates", sim.MaxUpdates)
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
	if l.Journal.kept {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.Journal.Add(JournalEntry{Entries: l.Executor.Tx.Entries, Run: n}); err != nil {
			return err
		}
		ctx = context.WithoutCancel(ctx)
	}
	l.active = nil
	if err := l.pipeline.run(ctx, n, progress); err != nil {
		return err
	}
	l.Finals = append(l.Finals, uint32(l.Executor.Tx.Updates))
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
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return l.Executor.Tx.Updates
}

// DelegatesSend reports whether transfer commands are left to their delegates: a kept ledger
// for which that was once asked goes on so.
func (l *Ledger) DelegatesSend() bool {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return l.Executor.Config.DelegatesSend
}

// Digests returns what the ledger has served so far. It waits for an execution
// that is going on.
func (l *Ledger) Digests() history.Digests {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if l.active == nil {
		l.active = digestActive(l)
	}
	all := l.Store.Digests()
	all.Merge(l.active)
	return history.Digests{Tables: all.Export(), Supply: l.Executor.Bank.Supply.Export(), Counts: history.Counts{
		Updates:          all[history.TableUpdates].Rows,
		Events:           all[history.TableEvents].Rows,
		ContractsCreated: l.Executor.Tx.Created,
		ActiveContracts:  all[history.TableActiveContracts].Rows,
		Rounds:           uint64(l.Executor.Rounds.RoundsOpened()),
	}}
}

func digestActive(l *Ledger) *history.Tables {
	r := history.Renderer{Names: l.Names}
	t := new(history.Tables)
	var row []byte
	for _, c := range l.Executor.Tx.Active {
		row = r.ActiveContract(row[:0], c)
		t[history.TableActiveContracts].Add(row)
	}
	return t
}

// Supply returns the coin supply.
func (l *Ledger) Supply() sim.Supply {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return l.Executor.Bank.Supply.Export()
}

// GovernanceParty is the party that sees all public history.
func (l *Ledger) GovernanceParty() string { return l.Names.Name(model.Dso) }

// NodeDigests returns what the node's stream has had so far, the zero value if no
// participant's view is kept.
func (l *Ledger) NodeDigests() history.NodeDigests {
	if l.View == nil {
		return history.NodeDigests{}
	}
	l.Store.Mu.RLock()
	defer l.Store.Mu.RUnlock()
	d := history.NodeDigests{Stream: schemas.NodeStream(l.View.Uid()), ParticipantID: l.View.Uid(),
		MigrationID: l.View.Migration, LedgerEnd: l.Store.LedgerEnd(l.View), Tables: map[string]history.TableDigest{}}
	for i, name := range [history.NodeTableCount]string{"updates", "events"} {
		t := &l.Store.Node.Tables[i]
		d.Tables[name] = history.TableDigest{Rows: t.Rows, Hash: t.Hash()}
	}
	return d
}
