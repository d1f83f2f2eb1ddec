package devnet

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// clock is the time of the ledger, and what is due when.
type clock struct {
	recordTime  int64 // of the last entry, µs
	effectiveAt int64 // of the update in execution, µs
	gap         int64 // mean time between two updates, µs
	tick        int64 // µs
	nextTick    int64

	tasks  []func()
	expiry expiryQueue
	alarms []alarm // by time
}

// isDue reports whether anything is due at a record time.
func (x *clock) isDue(t int64) bool { return len(x.tasks) > 0 || x.nextDue() <= t }

// nextDue is the record time (µs) at which something will be due, if nothing is now.
func (x *clock) nextDue() int64 {
	next := int64(never)
	if x.nextTick > 0 {
		next = x.nextTick
	}
	for bucket := range x.expiry {
		next = min(next, bucket*x.tick)
	}
	if len(x.alarms) > 0 {
		next = min(next, x.alarms[0].at)
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
	at, _ := slices.BinarySearchFunc(x.alarms, t+1, func(a alarm, t int64) int { return cmp.Compare(a.at, t) })
	x.alarms = slices.Insert(x.alarms, at, alarm{t, task})
}

// ring turns the alarms whose time has come into tasks.
func (x *clock) ring() {
	for len(x.alarms) > 0 && x.alarms[0].at <= x.effectiveAt {
		x.tasks = append(x.tasks, x.alarms[0].run)
		x.alarms[0] = alarm{}
		x.alarms = x.alarms[1:]
	}
}

// executeDue executes the first thing that is due at a record time as an update. It returns
// false if it turned out that there was nothing to do.
func (x *executor) executeDue(b *batch, t int64) bool {
	x.tx.batch = b
	before, effective := x.clock.recordTime, x.clock.effectiveAt
	x.tx.beginAt(max(t, x.clock.recordTime+minGap))
	x.rounds.scheduleRounds()
	x.clock.scheduleOverdue()
	x.clock.ring()
	for len(x.clock.tasks) > 0 && len(x.tx.current.nodes) == 0 {
		task := x.clock.tasks[0]
		x.clock.tasks = x.clock.tasks[1:]
		task()
	}
	if len(x.tx.current.nodes) == 0 {
		x.tx.abandon(before, effective)
		return false
	}
	x.tx.current.verdict = x.verdicts.verdictOf(x.tx.current)
	b.counted++
	x.tx.updates++
	x.bank.checkSupply()
	return true
}

// scheduleOverdue turns all that has ended by now into tasks, also of buckets that time has
// jumped over, in their order.
func (x *clock) scheduleOverdue() {
	bucket := x.recordTime / x.tick
	for _, b := range slices.Sorted(maps.Keys(x.expiry)) {
		if b > bucket {
			return
		}
		x.tasks = append(x.tasks, x.expiry[b]...)
		delete(x.expiry, b)
	}
}

// moveTime moves time forward to t (µs) without an entry. A positive gap is the mean time
// between the updates from now on.
func (x *clock) moveTime(t, gap int64) {
	x.recordTime = max(x.recordTime, t)
	if gap > 0 {
		x.gap = gap
	}
}

// allocate adds an entry for a party that was added.
func (x *executor) allocate(b *batch, p party, t int64) {
	x.tx.batch = b
	x.tx.beginAt(t)
	x.tx.current.kind, x.tx.current.allocated = topologyUpdate, p
	for len(x.bank.wallets) <= int(p) {
		x.bank.wallets = append(x.bank.wallets, wallet{})
		x.payments.validatorRights = append(x.payments.validatorRights, 0)
	}
}

const never = math.MaxInt64
