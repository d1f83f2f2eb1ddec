package devnet

// effect is a contract that was created or archived.
type effect struct {
	contract *contract
	created  bool
}

// attempt is what a submission has done so far, to be taken back if it is refused.
type attempt struct {
	effects  []effect
	reserved uint64 // the last number taken of a prepared submission, or 0
}

// note adds an effect; without an attempt nothing will be taken back.
func (a *attempt) note(c *contract, created bool) {
	if a != nil {
		a.effects = append(a.effects, effect{c, created})
	}
}

// beginAt opens an entry for what is told when to happen: contracts see its record time as
// now.
func (x *transaction) beginAt(recordTime int64) {
	x.clock.recordTime = recordTime
	x.clock.effectiveAt = max(x.clock.effectiveAt, recordTime)
	x.open()
}

// abandon takes back the entry that was begun last.
func (x *transaction) abandon(recordTime, effectiveAt int64) {
	x.clock.recordTime, x.clock.effectiveAt = recordTime, effectiveAt
	x.batch.updates = x.batch.updates[:len(x.batch.updates)-1]
	x.entries--
	x.current = nil
}
