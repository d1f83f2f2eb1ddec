package devnet

// Two contracts that tell external parties the price and the fees are always active.
// Each lives two days and they take turns, so that what one of them refers to stays
// valid for at least a day.

var (
	updateConfigStateShape     = newShape("externalPartyConfigStateCid0", "externalPartyConfigStateCid1", "openMiningRoundTriple")
	updateConfigStateDoneShape = newShape("newExternalPartyConfigStateCid")
	roundTripleShape           = newShape("round0Cid", "round1Cid", "round2Cid")
)

// newConfigState creates one, to be replaced after the given number of periods.
func (x *rounds) newConfigState(periods int64) {
	r := x.openRound()
	expires := x.clock.effectiveAt + periods*configStatePeriod
	c := x.tx.create(configStateTemplate, configState{round: r.number, price: r.price, archiveAfter: expires, byTraffic: x.config.TrafficRewards})
	x.rules.configStates = append(x.rules.configStates, c)
	x.clock.expireAt(expires, x.updateConfigStates)
}

// updateConfigStates replaces the older one.
func (x *rounds) updateConfigStates() {
	a, states, rounds := x.tx.arena(), x.rules.configStates, x.open
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_UpdateExternalPartyConfigStates",
		a.record(updateConfigStateShape, contractID(states[0].number), contractID(states[1].number), a.record(roundTripleShape,
			contractID(rounds[0].contract.number), contractID(rounds[1].contract.number), contractID(rounds[2].contract.number))), dso)
	x.tx.archive(states[0])
	x.rules.configStates = append(states[:0], states[1])
	x.newConfigState(2)
	x.tx.finish(at, a.record(updateConfigStateDoneShape, contractID(x.rules.configStates[1].number)))
}
