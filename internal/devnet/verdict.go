package devnet

import "slices"

// verdict is the mediator's decision on a transaction, with what the sequencer
// charged for it and what activity of apps follows from that.
type verdict struct {
	accepted     bool
	submitter    party
	participant  int
	finalization int64 // µs
	round        int64 // the open round, or -1 where the history does not tell
	views        []view
	total        int64 // traffic cost in bytes, 0 where none was recorded
	activity     []appActivity
	activityOf   int64 // round of the activity
}

// view is a part of a transaction that has its own set of informees. View 0 is the
// root, all others are below it. Each view travels in an envelope of its own.
type view struct {
	informees  []party // sorted by text
	confirmers []party // sorted by text
	cost       int64   // of the envelope, bytes
}

// appActivity is the weight of one app's part in a transaction.
type appActivity struct {
	provider party
	weight   int64
}

const (
	// trafficSince and roundSince are the shares of the history, in percent, before
	// which traffic was not recorded and verdicts did not tell the round.
	trafficSince = 5
	roundSince   = switchPercent

	maxViews         = 4
	nodesPerView     = 4
	maxTrafficCost   = 100 << 20
	envelopeOverhead = 420
)

// verdicts decides what a transaction costs, and which activity of apps follows from it.
type verdicts struct {
	core
	rounds  *rounds
	rewards *trafficRewards
	apps    *apps

	consumed [][]int64 // traffic in bytes, by synchronizer and participant
}

func newVerdicts(k core) *verdicts {
	v := &verdicts{core: k, consumed: make([][]int64, len(k.names.synchronizers))}
	for i := range v.consumed {
		v.consumed[i] = make([]int64, len(k.names.participants))
	}
	return v
}

// verdictOf derives the verdict on a transaction from its tree.
func (x *verdicts) verdictOf(u *update) *verdict {
	root := &u.nodes[0]
	v := x.newVerdict(u, true)
	v.submitter = x.submitterOf(root)
	v.participant = x.names.participantOf(v.submitter, u.number)
	x.addViews(v, u)
	x.measure(v, u)
	return v
}

// addViews gives a transaction a view for every few of its nodes.
func (x *verdicts) addViews(v *verdict, u *update) {
	for i := 0; i < len(u.nodes) && len(v.views) < maxViews; i += nodesPerView {
		signatories, observers := u.nodes[i].contract.payload.stakeholders(nil, nil)
		confirmers := append(signatories, u.nodes[i].actors...)
		if i == 0 && x.tx.provider != noParty {
			confirmers = append(confirmers, x.tx.provider)
		}
		x.addView(v, confirmers, observers, len(u.nodes))
	}
}

func (x *verdicts) submitterOf(root *node) party {
	switch root.choice {
	case "":
		signatories, _ := root.contract.payload.stakeholders(nil, nil)
		return signatories[0]
	case "AmuletRules_Transfer": // its receivers agreed beforehand
		return argument{&root.argument}.record("transfer").party("sender")
	}
	return root.actors[len(root.actors)-1]
}

func (x *verdicts) newVerdict(u *update, accepted bool) *verdict {
	v := &verdict{accepted: accepted, round: -1, finalization: u.recordTime + int64(x.random.between(80_000, 900_000))}
	if x.tx.updates*100 >= roundSince*x.config.Updates {
		v.round = x.rounds.open[0].number
	}
	return v
}

func (x *verdicts) addView(v *verdict, confirmers, observers []party, nodes int) {
	informees := append(slices.Clone(confirmers), observers...)
	w := view{informees: x.names.sortParties(informees), confirmers: x.names.sortParties(confirmers)}
	w.cost = envelopeOverhead + int64(200*len(w.informees)+60*nodes+x.random.below(1500))
	v.views = append(v.views, w)
}

// measure charges the traffic of the views and derives the activity of apps.
func (x *verdicts) measure(v *verdict, u *update) {
	if x.tx.updates*100 < trafficSince*x.config.Updates {
		return
	}
	for _, w := range v.views {
		v.total += w.cost
	}
	x.consumed[u.synchronizer][v.participant] += v.total
	if v.accepted && v.total <= maxTrafficCost && v.participant >= superValidatorCount {
		x.measureActivity(v)
		x.rewards.countActivity(v)
	}
}

// measureActivity divides the cost among the featured apps that confirmed: per
// envelope cost × total / number of such apps, all over the cost of the envelopes
// that have any, rounded down.
func (x *verdicts) measureActivity(v *verdict) {
	var featured []appActivity
	var costs int64
	for _, w := range v.views {
		var apps []party
		for _, p := range w.confirmers {
			if x.apps.right(p) != nil {
				apps = append(apps, p)
			}
		}
		if len(apps) == 0 {
			continue
		}
		costs += w.cost
		for _, p := range apps {
			featured = addActivity(featured, p, w.cost*v.total/int64(len(apps)))
		}
	}
	for i := range featured {
		featured[i].weight /= costs
	}
	slices.SortFunc(featured, func(a, b appActivity) int {
		return x.names.compare(a.provider, b.provider)
	})
	v.activity, v.activityOf = featured, x.rounds.openRound().number
}

func addActivity(all []appActivity, p party, weight int64) []appActivity {
	for i := range all {
		if all[i].provider == p {
			all[i].weight += weight
			return all
		}
	}
	return append(all, appActivity{p, weight})
}

// decidePrivately adds an entry of which only the verdict is public, somewhere between
// the last update and the next, whose record time is given: a transaction among others,
// or a rejected one.
func (x *executor) decidePrivately(next int64) {
	x.tx.begin(x.clock.recordTime + 1 + (next-x.clock.recordTime-2)*int64(x.random.between(10, 90))/100)
	u := x.tx.current
	u.kind = verdictOnly
	v := x.verdicts.newVerdict(u, !x.random.percent(20))
	v.submitter = x.names.users.of(x.random)
	v.participant = x.names.participantOf(v.submitter, u.number)
	for range 1 + x.random.below(3) {
		confirmers := []party{v.submitter}
		if x.random.percent(40) {
			confirmers = append(confirmers, x.names.providers.of(x.random))
		}
		x.verdicts.addView(v, confirmers, []party{x.names.users.of(x.random)}, x.random.between(1, 9))
	}
	x.verdicts.measure(v, u)
	u.verdict = v
	if v.accepted && x.config.Node != nil {
		x.private.executePrivate(v)
	}
}
