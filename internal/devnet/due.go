package devnet

import (
	"cmp"
	"maps"
	"slices"
)

// isDue reports whether anything is due at a record time.
func (x *executor) isDue(t int64) bool { return len(x.tasks) > 0 || x.nextDue() <= t }

// nextDue is the record time (µs) at which something will be due, if nothing is now.
func (x *executor) nextDue() int64 {
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
func (x *executor) alarmAt(t int64, task func()) {
	at, _ := slices.BinarySearchFunc(x.alarms, t+1, func(a alarm, t int64) int { return cmp.Compare(a.at, t) })
	x.alarms = slices.Insert(x.alarms, at, alarm{t, task})
}

// ring turns the alarms whose time has come into tasks.
func (x *executor) ring() {
	for len(x.alarms) > 0 && x.alarms[0].at <= x.effectiveAt {
		x.tasks = append(x.tasks, x.alarms[0].run)
		x.alarms[0] = alarm{}
		x.alarms = x.alarms[1:]
	}
}

// executeDue executes the first thing that is due at a record time as an update. It returns
// false if it turned out that there was nothing to do.
func (x *executor) executeDue(b *batch, t int64) bool {
	x.batch = b
	before, effective := x.recordTime, x.effectiveAt
	x.beginAt(max(t, x.recordTime+minGap))
	x.scheduleRounds()
	x.scheduleOverdue()
	x.ring()
	for len(x.tasks) > 0 && len(x.current.nodes) == 0 {
		task := x.tasks[0]
		x.tasks = x.tasks[1:]
		task()
	}
	if len(x.current.nodes) == 0 {
		x.abandon(before, effective)
		return false
	}
	x.current.verdict = x.verdictOf(x.current)
	b.counted++
	x.updates++
	x.checkSupply()
	return true
}

// scheduleOverdue turns all that has ended by now into tasks, also of buckets that time has
// jumped over, in their order.
func (x *executor) scheduleOverdue() {
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
func (x *executor) moveTime(t, gap int64) {
	x.recordTime = max(x.recordTime, t)
	if gap > 0 {
		x.gap = gap
	}
}

// allocate adds an entry for a party that was added.
func (x *executor) allocate(b *batch, p party, t int64) {
	x.batch = b
	x.beginAt(t)
	x.current.kind, x.current.allocated = topologyUpdate, p
	for len(x.wallets) <= int(p) {
		x.wallets = append(x.wallets, wallet{})
		x.validatorRights = append(x.validatorRights, 0)
	}
}
