package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// verdictRun is transactions of one migration and synchronizer that follow one another and
// all have a verdict, or all have none.
type verdictRun struct {
	migration    int64
	synchronizer string
	judged       bool
	transactions int64
	first        schemas.Position
}

// compareVerdict takes an item of public history: its update, nil if it has none, and whether
// it has a verdict. informs says that this commits a transaction of which the governance party
// is informed: the party's node then has the update.
func (w *walk) compareVerdict(u *schemas.Update, at schemas.Position, judged, informs bool) {
	check := w.out.checks[Verdicts]
	switch {
	case check == nil || w.party == "":
	case u == nil && informs:
		check.Add(Finding{What: "an update is missing", Where: where(at), Expected: "the transaction that its verdict commits, of which the governance party is informed", Found: "only the verdict"})
	case u != nil && u.Kind == schemas.Transaction:
		check.Count("transactions", 1)
		w.addToRun(u, at, judged)
	}
}

// addToRun continues the run of the update's synchronizer, or begins one.
func (w *walk) addToRun(u *schemas.Update, at schemas.Position, judged bool) {
	runs := w.out.runs
	for i := len(runs) - 1; i >= 0; i-- {
		r := &runs[i]
		if r.synchronizer != u.SynchronizerID || r.migration != at.MigrationID {
			continue
		}
		if r.judged == judged {
			r.transactions++
			return
		}
		break
	}
	w.out.runs = append(runs, verdictRun{at.MigrationID, u.SynchronizerID, judged, 1, at})
}

// verdictGaps finds runs without verdicts between runs that have them: verdicts are recorded
// from some time on, and for each synchronizer by itself, if at all, but without a gap.
type verdictGaps struct {
	last []verdictRun // of each migration and synchronizer since the first with verdicts
}

// take takes runs in the order of history.
func (g *verdictGaps) take(runs []verdictRun, check *Check) {
	for _, r := range runs {
		i := slices.IndexFunc(g.last, func(l verdictRun) bool {
			return l.migration == r.migration && l.synchronizer == r.synchronizer
		})
		switch {
		case i < 0 && !r.judged:
		case i < 0:
			g.last = append(g.last, r)
		case g.last[i].judged == r.judged:
			g.last[i].transactions += r.transactions
		case r.judged:
			gap := g.last[i]
			check.Add(Finding{
				What: "no verdict, though transactions before and after have one", Where: where(gap.first),
				Expected: fmt.Sprintf("verdicts on %d transactions", gap.transactions), Found: "none",
			})
			g.last[i] = r
		default:
			g.last[i] = r
		}
	}
}

// findParty finds out whose view public history is. A node's own stream is another's.
func (v *verification) findParty(ctx context.Context) (err error) {
	if v.mark == schemas.Start || v.mark.Offset > 0 || !v.cfg.has(Verdicts) && !v.cfg.has(Lifetimes) {
		return nil
	}
	v.party, err = v.cfg.Audit.GovernanceParty(ctx)
	return err
}
