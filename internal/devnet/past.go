package devnet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"
)

// The ledger at an instant of the past is found by executing it again up to there:
// that takes no memory while nobody asks, and is the plainest evaluation there is.

// contractState is an active contract with the synchronizer that it is on.
type contractState struct {
	*contract
	synchronizer uint8
}

// pastLedger is the ledger as it was after a number of updates.
type pastLedger struct {
	migration int64
	updates   int
	active    []contractState // ordered by creation time, then contract id
	imports   []importUpdate  // those that opened the migration, if no update followed yet
}

// pastLedgers keeps the last ones that were asked for, as they are read page by page.
type pastLedgers struct {
	mu   sync.Mutex // held while one is evaluated
	last []*pastLedger
}

const pastLedgersKept = 2

// snapshotAt returns the ledger after all updates of a migration up to a record time,
// and all of the migrations before.
func (l *Ledger) snapshotAt(ctx context.Context, migration, t int64) (*pastLedger, error) {
	updates := l.store.updatesUpTo(migration, t)
	l.past.mu.Lock()
	defer l.past.mu.Unlock()
	for _, s := range l.past.last {
		if s.migration == migration && s.updates == updates {
			return s, nil
		}
	}
	s, err := l.executeAgain(ctx, migration, updates)
	if err != nil {
		return nil, err
	}
	l.past.last = append(l.past.last, s)
	if len(l.past.last) > pastLedgersKept {
		l.past.last = slices.Delete(l.past.last, 0, 1)
	}
	return s, nil
}

// updatesUpTo counts the updates of a migration up to a record time, and of those before.
func (s *store) updatesUpTo(migration, t int64) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	count := 0
	for id, m := range s.migrations {
		for _, updates := range m.updates {
			switch {
			case int64(id) < migration:
				count += len(updates)
			case int64(id) == migration:
				count += sort.Search(len(updates), func(i int) bool { return s.at(int(updates[i])).time > t })
			}
		}
	}
	return count
}

// executeAgain executes the first updates of the ledger, and after them the start of
// the migration if it follows at once.
func (l *Ledger) executeAgain(ctx context.Context, migration int64, updates int) (*pastLedger, error) {
	l.mu.Lock()
	finals := l.finals // only ever appended to
	outside := l.journal.read()
	l.mu.Unlock()
	c := executedConfig(l)
	if outside.left == 0 {
		c.Node = nil // private transactions have no influence on public ones, but for commands
	}
	x, b := newExecutor(c, l.names), &batch{}
	commands := newSubmitter(x)
	for x.tx.updates < updates {
		if len(b.updates) >= 2*updatesPerBatch {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("executing the ledger again: %w", err)
			}
			b.reset()
		}
		if e := outside.take(x.tx.entries); e != nil {
			if err := again(commands, b, e); err != nil {
				return nil, fmt.Errorf("executing the ledger again: %w", err)
			}
			continue
		}
		if outside.err != nil {
			return nil, fmt.Errorf("executing the ledger again: %w", outside.err)
		}
		if x.switchDue() {
			x.switchMigration()
		}
		_, final := slices.BinarySearch(finals, uint32(x.tx.updates+1))
		if err := x.step(b, final); err != nil {
			return nil, fmt.Errorf("executing the ledger again: %w", err)
		}
	}
	s := &pastLedger{migration: migration, updates: updates}
	if x.tx.migration < migration && x.switchDue() {
		s.imports = x.switchMigration()
	}
	s.active = statesOf(l, x.tx.active, func(*contract) bool { return true })
	return s, nil
}

// statesOf copies the contracts that keep selects, ordered by creation time and id.
func statesOf(l *Ledger, active []*contract, keep func(*contract) bool) []contractState {
	var states []contractState
	for _, c := range active {
		if keep(c) {
			states = append(states, contractState{c, c.synchronizer})
		}
	}
	ids := &l.names.ids.contracts
	slices.SortFunc(states, func(a, b contractState) int {
		return cmp.Or(cmp.Compare(a.createdAt, b.createdAt), cmp.Compare(ids.rank(a.number), ids.rank(b.number)))
	})
	return states
}

// ofTemplate returns the contracts of a template that are active now and that keep
// selects, ordered by creation time and id.
func (l *Ledger) ofTemplate(t *template, keep func(*contract) bool) []contractState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return statesOf(l, l.executor.tx.active, func(c *contract) bool {
		return c.template == t && (keep == nil || keep(c))
	})
}

// RecordTime is that of the last entry of history, µs. The network has no other
// clock: what has expired by then has expired.
func (l *Ledger) RecordTime() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.executor.clock.recordTime
}
