package sim

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// Verdict is the mediator's decision on a transaction, with what the sequencer
// charged for it and what activity of apps follows from that.
type Verdict struct {
	Accepted     bool
	Submitter    model.Party
	Participant  int
	Finalization int64 // µs
	Round        int64 // the open round, or -1 where the history does not tell
	Views        []view
	Total        int64 // traffic cost in bytes, 0 where none was recorded
	Activity     []appActivity
	ActivityOf   int64 // round of the activity
}

// view is a part of a transaction that has its own set of informees. View 0 is the
// root, all others are below it. Each view travels in an envelope of its own.
type view struct {
	Informees  []model.Party // sorted by text
	Confirmers []model.Party // sorted by text
	Cost       int64         // of the envelope, bytes
}

// appActivity is the weight of one app's part in a transaction.
type appActivity struct {
	Provider model.Party
	Weight   int64
}

const (
	// trafficSince and roundSince are the shares of the history, in percent, before
	// which traffic was not recorded and verdicts did not tell the round.
	trafficSince = 5
	roundSince   = SwitchPercent

	maxViews         = 4
	nodesPerView     = 4
	maxTrafficCost   = 100 << 20
	EnvelopeOverhead = 420
)

// verdicts decides what a transaction costs, and which activity of apps follows from it.
type verdicts struct {
	Core
	rounds  *Rounds
	rewards *TrafficRewards
	apps    *Apps

	Consumed [][]int64 // traffic in bytes, by synchronizer and participant
}

func newVerdicts(k Core) *verdicts {
	v := &verdicts{Core: k, Consumed: make([][]int64, len(k.Names.Synchronizers))}
	for i := range v.Consumed {
		v.Consumed[i] = make([]int64, len(k.Names.Participants))
	}
	return v
}

// verdictOf derives the verdict on a transaction from its tree.
func (x *verdicts) verdictOf(u *Update) *Verdict {
	root := &u.Nodes[0]
	v := x.newVerdict(u, true)
	v.Submitter = x.submitterOf(root)
	v.Participant = x.Names.ParticipantOf(v.Submitter, u.Number)
	x.addViews(v, u)
	x.measure(v, u)
	return v
}

// addViews gives a transaction a view for every few of its nodes.
func (x *verdicts) addViews(v *Verdict, u *Update) {
	for i := 0; i < len(u.Nodes) && len(v.Views) < maxViews; i += nodesPerView {
		signatories, observers := u.Nodes[i].Contract.Payload.Stakeholders(nil, nil)
		confirmers := append(signatories, u.Nodes[i].Actors...)
		observers = append(observers, u.Nodes[i].Observers...)
		if i == 0 && x.Tx.Provider != model.NoParty {
			confirmers = append(confirmers, x.Tx.Provider)
		}
		x.addView(v, confirmers, observers, len(u.Nodes))
	}
}

func (x *verdicts) submitterOf(root *Node) model.Party {
	switch root.Choice {
	case "":
		signatories, _ := root.Contract.Payload.Stakeholders(nil, nil)
		return signatories[0]
	case "AmuletRules_Transfer": // its receivers agreed beforehand
		return model.Argument{V: &root.Argument}.Record("transfer").Party("sender")
	}
	return root.Actors[len(root.Actors)-1]
}

func (x *verdicts) newVerdict(u *Update, accepted bool) *Verdict {
	v := &Verdict{Accepted: accepted, Round: -1, Finalization: u.RecordTime + int64(x.Random.Between(80_000, 900_000))}
	if x.Tx.Updates*100 >= roundSince*x.Config.Updates {
		v.Round = x.rounds.open[0].Number
	}
	return v
}

func (x *verdicts) addView(v *Verdict, confirmers, observers []model.Party, nodes int) {
	informees := append(slices.Clone(confirmers), observers...)
	w := view{Informees: x.Names.SortParties(informees), Confirmers: x.Names.SortParties(confirmers)}
	w.Cost = EnvelopeOverhead + int64(200*len(w.Informees)+60*nodes+x.Random.Below(1500))
	v.Views = append(v.Views, w)
}

// measure charges the traffic of the views and derives the activity of apps.
func (x *verdicts) measure(v *Verdict, u *Update) {
	if x.Tx.Updates*100 < trafficSince*x.Config.Updates {
		return
	}
	for _, w := range v.Views {
		v.Total += w.Cost
	}
	x.Consumed[u.Synchronizer][v.Participant] += v.Total
	if v.Accepted && v.Total <= maxTrafficCost && v.Participant >= model.SuperValidatorCount {
		x.measureActivity(v, u.RecordTime)
		x.rewards.countActivity(v)
	}
}

// measureActivity divides the cost among the apps that confirmed and were featured when the round
// opened: per envelope cost × total / number of such apps, all over the cost of the envelopes that
// have any, times the weight of the app, rounded down. The round is the oldest that is open.
func (x *verdicts) measureActivity(v *Verdict, t int64) {
	r := x.rounds.open[0]
	if r.OpensAt > t {
		return
	}
	var featured []appActivity
	var costs int64
	for _, w := range v.Views {
		var apps []model.Party
		for _, p := range w.Confirmers {
			if x.apps.weightAt(p, r.OpensAt) > 0 {
				apps = append(apps, p)
			}
		}
		if len(apps) == 0 {
			continue
		}
		costs += w.Cost
		for _, p := range apps {
			featured = addActivity(featured, p, w.Cost*v.Total/int64(len(apps)))
		}
	}
	for i := range featured {
		a := &featured[i]
		a.Weight = int64(x.apps.weightAt(a.Provider, r.OpensAt)) * (a.Weight / costs) / int64(model.One)
	}
	slices.SortFunc(featured, func(a, b appActivity) int {
		return x.Names.Compare(a.Provider, b.Provider)
	})
	v.Activity, v.ActivityOf = featured, r.Number
}

func addActivity(all []appActivity, p model.Party, weight int64) []appActivity {
	for i := range all {
		if all[i].Provider == p {
			all[i].Weight += weight
			return all
		}
	}
	return append(all, appActivity{p, weight})
}

// decidePrivately adds an entry of which only the verdict is public, somewhere between
// the last update and the next, whose record time is given: a transaction among others,
// or a rejected one.
func (x *Executor) decidePrivately(next int64) {
	x.Tx.begin(x.Clock.RecordTime + 1 + (next-x.Clock.RecordTime-2)*int64(x.Random.Between(10, 90))/100)
	u := x.Tx.Current
	u.Kind = VerdictOnly
	v := x.Verdicts.newVerdict(u, !x.Random.Percent(20))
	v.Submitter = x.Names.Users.Of(x.Random)
	v.Participant = x.Names.ParticipantOf(v.Submitter, u.Number)
	for range 1 + x.Random.Below(3) {
		confirmers := []model.Party{v.Submitter}
		if x.Random.Percent(40) {
			confirmers = append(confirmers, x.Names.Providers.Of(x.Random))
		}
		x.Verdicts.addView(v, confirmers, []model.Party{x.Names.Users.Of(x.Random)}, x.Random.Between(1, 9))
	}
	x.Verdicts.measure(v, u)
	u.Verdict = v
	if v.Accepted && x.Config.Node != nil {
		x.Private.executePrivate(v)
	}
}
