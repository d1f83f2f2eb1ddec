package sim

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// clock is the time of the ledger, and what is due when.
type clock struct {
	RecordTime  int64 // of the last entry, µs
	EffectiveAt int64 // of the update in execution, µs
	Gap         int64 // mean time between two updates, µs
	tick        int64 // µs
	NextTick    int64

	Tasks  []func()
	expiry expiryQueue
	Alarms []alarm // by time
}

// IsDue reports whether anything is due at a record time.
func (x *clock) IsDue(t int64) bool { return len(x.Tasks) > 0 || x.NextDue() <= t }

// NextDue is the record time (µs) at which something will be due, if nothing is now.
func (x *clock) NextDue() int64 {
	next := int64(Never)
	if x.NextTick > 0 {
		next = x.NextTick
	}
	for bucket := range x.expiry {
		next = min(next, bucket*x.tick)
	}
	if len(x.Alarms) > 0 {
		next = min(next, x.Alarms[0].at)
	}
	return next
}

// alarm is something to do at a time (µs).
type alarm struct {
	at  int64
	run func()
}

// alarmAt has task run at a time, not only at the next tick as expireAt does.
func (x *clock) alarmAt(t int64, task func()) {
	at, _ := slices.BinarySearchFunc(x.Alarms, t+1, func(a alarm, t int64) int { return cmp.Compare(a.at, t) })
	x.Alarms = slices.Insert(x.Alarms, at, alarm{t, task})
}

// ring turns the alarms whose time has come into tasks.
func (x *clock) ring() {
	for len(x.Alarms) > 0 && x.Alarms[0].at <= x.EffectiveAt {
		x.Tasks = append(x.Tasks, x.Alarms[0].run)
		x.Alarms[0] = alarm{}
		x.Alarms = x.Alarms[1:]
	}
}

// ExecuteDue executes the first thing that is due at a record time as an update. It returns
// false if it turned out that there was nothing to do.
func (x *Executor) ExecuteDue(b *Batch, t int64) bool {
	x.Tx.Batch = b
	before, effective := x.Clock.RecordTime, x.Clock.EffectiveAt
	x.Tx.BeginAt(max(t, x.Clock.RecordTime+MinGap))
	x.Rounds.scheduleRounds()
	x.Clock.scheduleOverdue()
	x.Clock.ring()
	for len(x.Clock.Tasks) > 0 && len(x.Tx.Current.Nodes) == 0 {
		task := x.Clock.Tasks[0]
		x.Clock.Tasks = x.Clock.Tasks[1:]
		task()
	}
	if len(x.Tx.Current.Nodes) == 0 {
		x.Tx.Abandon(before, effective)
		return false
	}
	x.Tx.Current.Verdict = x.Verdicts.verdictOf(x.Tx.Current)
	b.Counted++
	x.Tx.Updates++
	x.Bank.checkSupply()
	return true
}

// scheduleOverdue turns all that has ended by now into tasks, also of buckets that time has
// jumped over, in their order.
func (x *clock) scheduleOverdue() {
	bucket := x.RecordTime / x.tick
	for _, b := range slices.Sorted(maps.Keys(x.expiry)) {
		if b > bucket {
			return
		}
		x.Tasks = append(x.Tasks, x.expiry[b]...)
		delete(x.expiry, b)
	}
}

// MoveTime moves time forward to t (µs) without an entry. A positive gap is the mean time
// between the updates from now on.
func (x *clock) MoveTime(t, gap int64) {
	x.RecordTime = max(x.RecordTime, t)
	if gap > 0 {
		x.Gap = gap
	}
}

// Allocate adds an entry for a party that was added.
func (x *Executor) Allocate(b *Batch, p model.Party, t int64) {
	x.Tx.Batch = b
	x.Tx.BeginAt(t)
	x.Tx.Current.Kind, x.Tx.Current.Allocated = TopologyUpdate, p
	for len(x.Bank.Wallets) <= int(p) {
		x.Bank.Wallets = append(x.Bank.Wallets, wallet{})
		x.Payments.validatorRights = append(x.Payments.validatorRights, 0)
	}
}

const Never = math.MaxInt64

// expireAt has task run soon after the time t (µs).
func (x *clock) expireAt(t int64, task func()) {
	if x.expiry == nil {
		x.expiry = expiryQueue{}
	}
	bucket := t/x.tick + 1
	x.expiry[bucket] = append(x.expiry[bucket], task)
}

// grace is how long, in µs, the governance party takes to end what is overdue, so that those
// whom it concerns can do it first.
func (x *clock) grace() int64 { return x.tick }

// overdue takes from a list of contracts those that are active and over, at most so many as
// fit into a batch, and drops those that are not active.
func (x *clock) overdue(list *[]*model.Contract, until func(*model.Contract) int64) (due []*model.Contract) {
	kept := (*list)[:0]
	for _, c := range *list {
		switch {
		case !c.Active():
		case until(c)+x.grace() <= x.EffectiveAt && len(due) < overduePerBatch:
			due = append(due, c)
		default:
			kept = append(kept, c)
		}
	}
	clear((*list)[len(kept):])
	*list = kept
	return due
}

// scheduleExpiries turns what has ended into tasks.
func (x *clock) scheduleExpiries() {
	bucket := x.RecordTime / x.tick
	if due, ok := x.expiry[bucket]; ok {
		delete(x.expiry, bucket)
		x.Tasks = append(x.Tasks, due...)
	}
}
