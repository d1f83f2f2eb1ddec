package history

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// Witnesses finds out who of a node's parties sees what of a transaction. Whoever is
// informed of an exercise sees all that follows from it.
type Witnesses struct {
	View     *NodeView
	seen     [][]model.Party // by tree node: informees of it and of those above
	stakes   [][]model.Party // by tree node: stakeholders of its contract
	parties  []model.Party   // backing of the lists
	sig, obs []model.Party
	open     []int // tree nodes above the one in work
}

// of fills seen and stakes for a transaction and reports whether anything is seen.
// The lists are sorted by text.
func (w *Witnesses) of(u *sim.Update) bool {
	w.seen, w.stakes, w.parties, w.open = w.seen[:0], w.stakes[:0], w.parties[:0], w.open[:0]
	any := false
	for i := range u.Nodes {
		n := &u.Nodes[i]
		for len(w.open) > 0 && u.Nodes[w.open[len(w.open)-1]].End <= int32(i) {
			w.open = w.open[:len(w.open)-1]
		}
		w.sig, w.obs = n.Contract.Payload.Stakeholders(w.sig[:0], w.obs[:0])
		w.stakes = append(w.stakes, w.hosted(w.sig, w.obs))
		var above []model.Party
		if len(w.open) > 0 {
			above = w.seen[w.open[len(w.open)-1]]
		}
		informees := w.stakes[i]
		if n.Choice != "" && !n.Consuming { // observers need not know
			informees = w.hosted(w.sig, nil)
		}
		w.seen = append(w.seen, w.hosted(informees, above, n.Actors, n.Observers))
		any = any || len(w.seen[i]) > 0
		if n.End > int32(i)+1 {
			w.open = append(w.open, i)
		}
	}
	return any
}

// hosted joins the parties of some lists that the node hosts.
func (w *Witnesses) hosted(lists ...[]model.Party) []model.Party {
	first := len(w.parties)
	for _, list := range lists {
		for _, p := range list {
			if w.View.HostsParty(p) {
				w.parties = append(w.parties, p)
			}
		}
	}
	joined := w.View.Names.SortParties(w.parties[first:])
	w.parties = w.parties[:first+len(joined)]
	return joined[:len(joined):len(joined)]
}

// acsDelta reports whether tree node i changes the set of contracts that are active on
// the node. Creating a contract that the same transaction archives does not.
func (w *Witnesses) acsDelta(u *sim.Update, i int) bool {
	n := &u.Nodes[i]
	if len(w.stakes[i]) == 0 || n.Choice != "" && !n.Consuming {
		return false
	}
	if n.Contract.CreatedAt != u.EffectiveAt {
		return true
	}
	for j := range u.Nodes {
		o := &u.Nodes[j]
		if j != i && o.Contract == n.Contract && (o.Choice == "") != (n.Choice == "") && (o.Choice == "" || o.Consuming) {
			return false
		}
	}
	return true
}
