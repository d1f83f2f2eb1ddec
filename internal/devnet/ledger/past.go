package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// The ledger at an instant of the past is found by executing it again up to there:
// that takes no memory while nobody asks, and is the plainest evaluation there is.

// ContractState is an active contract with the synchronizer that it is on.
type ContractState struct {
	*model.Contract
	Synchronizer uint8
}

// PastLedger is the ledger as it was after a number of updates.
type PastLedger struct {
	Migration int64
	updates   int
	Active    []ContractState    // ordered by creation time, then contract id
	Imports   []sim.ImportUpdate // those that opened the migration, if no update followed yet
}

// pastLedgers keeps the last ones that were asked for, as they are read page by page.
type pastLedgers struct {
	mu   sync.Mutex // held while one is evaluated
	last []*PastLedger
}

const pastLedgersKept = 2

// SnapshotAt returns the ledger after all updates of a migration up to a record time,
// and all of the migrations before.
func (l *Ledger) SnapshotAt(ctx context.Context, migration, t int64) (*PastLedger, error) {
	updates := l.Store.UpdatesUpTo(migration, t)
	l.past.mu.Lock()
	defer l.past.mu.Unlock()
	for _, s := range l.past.last {
		if s.Migration == migration && s.updates == updates {
			return s, nil
		}
	}
	s, err := l.ExecuteAgain(ctx, migration, updates)
	if err != nil {
		return nil, err
	}
	l.past.last = append(l.past.last, s)
	if len(l.past.last) > pastLedgersKept {
		l.past.last = slices.Delete(l.past.last, 0, 1)
	}
	return s, nil
}

// ExecuteAgain executes the first updates of the ledger, and after them the start of
// the migration if it follows at once.
func (l *Ledger) ExecuteAgain(ctx context.Context, migration int64, updates int) (*PastLedger, error) {
	l.Mu.Lock()
	finals := l.Finals // only ever appended to
	outside := l.Journal.read()
	l.Mu.Unlock()
	c := executedConfig(l)
	if outside.left == 0 {
		c.Node = nil // private transactions have no influence on public ones, but for commands
	}
	x, b := sim.NewExecutor(c, l.Names), &sim.Batch{}
	commands := choices.NewSubmitter(x)
	for x.Tx.Updates < updates {
		if len(b.Updates) >= 2*UpdatesPerBatch {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("executing the ledger again: %w", err)
			}
			b.Reset()
		}
		if e := outside.take(x.Tx.Entries); e != nil {
			if err := replay(commands, b, e); err != nil {
				return nil, fmt.Errorf("executing the ledger again: %w", err)
			}
			continue
		}
		if outside.err != nil {
			return nil, fmt.Errorf("executing the ledger again: %w", outside.err)
		}
		if x.SwitchDue() {
			x.SwitchMigration()
		}
		_, final := slices.BinarySearch(finals, uint32(x.Tx.Updates+1))
		if err := x.Step(b, final); err != nil {
			return nil, fmt.Errorf("executing the ledger again: %w", err)
		}
	}
	s := &PastLedger{Migration: migration, updates: updates}
	if x.Tx.Migration < migration && x.SwitchDue() {
		s.Imports = x.SwitchMigration()
	}
	s.Active = StatesOf(l, x.Tx.Active, func(*model.Contract) bool { return true })
	return s, nil
}

// StatesOf copies the contracts that keep selects, ordered by creation time and id.
func StatesOf(l *Ledger, active []*model.Contract, keep func(*model.Contract) bool) []ContractState {
	var states []ContractState
	for _, c := range active {
		if keep(c) {
			states = append(states, ContractState{c, c.Synchronizer})
		}
	}
	ids := &l.Names.IDs.Contracts
	slices.SortFunc(states, func(a, b ContractState) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(ids.Rank(a.Number), ids.Rank(b.Number)))
	})
	return states
}

// OfTemplate returns the contracts of a template that are active now and that keep
// selects, ordered by creation time and id.
func (l *Ledger) OfTemplate(t *model.Template, keep func(*model.Contract) bool) []ContractState {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return StatesOf(l, l.Executor.Tx.Active, func(c *model.Contract) bool {
		return c.Template == t && (keep == nil || keep(c))
	})
}

// RecordTime is that of the last entry of history, µs. The network has no other
// clock: what has expired by then has expired.
func (l *Ledger) RecordTime() int64 {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return l.Executor.Clock.RecordTime
}
