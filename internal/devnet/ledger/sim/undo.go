package sim

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// effect is a contract that was created or archived.
type effect struct {
	Contract *model.Contract
	Created  bool
}

// Attempt is what a submission has done so far, to be taken back if it is refused.
type Attempt struct {
	Effects  []effect
	Reserved uint64 // the last number taken of a prepared submission, or 0
}

// note adds an effect; without an attempt nothing will be taken back.
func (a *Attempt) note(c *model.Contract, created bool) {
	if a != nil {
		a.Effects = append(a.Effects, effect{c, created})
	}
}

// BeginAt opens an entry for what is told when to happen: contracts see its record time as
// now.
func (x *transaction) BeginAt(recordTime int64) {
	x.clock.RecordTime = recordTime
	x.clock.EffectiveAt = max(x.clock.EffectiveAt, recordTime)
	x.open()
}

// Abandon takes back the entry that was begun last.
func (x *transaction) Abandon(recordTime, effectiveAt int64) {
	x.clock.RecordTime, x.clock.EffectiveAt = recordTime, effectiveAt
	x.Batch.Updates = x.Batch.Updates[:len(x.Batch.Updates)-1]
	x.Entries--
	x.Current = nil
}
