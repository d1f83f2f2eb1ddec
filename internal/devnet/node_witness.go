package devnet

// witnesses finds out who of a node's parties sees what of a transaction. Whoever is
// informed of an exercise sees all that follows from it.
type witnesses struct {
	view     *nodeView
	seen     [][]party // by tree node: informees of it and of those above
	stakes   [][]party // by tree node: stakeholders of its contract
	parties  []party   // backing of the lists
	sig, obs []party
	open     []int // tree nodes above the one in work
}

// of fills seen and stakes for a transaction and reports whether anything is seen.
// The lists are sorted by text.
func (w *witnesses) of(u *update) bool {
	w.seen, w.stakes, w.parties, w.open = w.seen[:0], w.stakes[:0], w.parties[:0], w.open[:0]
	any := false
	for i := range u.nodes {
		n := &u.nodes[i]
		for len(w.open) > 0 && u.nodes[w.open[len(w.open)-1]].end <= int32(i) {
			w.open = w.open[:len(w.open)-1]
		}
		w.sig, w.obs = n.contract.payload.stakeholders(w.sig[:0], w.obs[:0])
		w.stakes = append(w.stakes, w.hosted(w.sig, w.obs))
		var above []party
		if len(w.open) > 0 {
			above = w.seen[w.open[len(w.open)-1]]
		}
		informees := w.stakes[i]
		if n.choice != "" && !n.consuming { // observers need not know
			informees = w.hosted(w.sig, nil)
		}
		w.seen = append(w.seen, w.hosted(informees, above, n.actors))
		any = any || len(w.seen[i]) > 0
		if n.end > int32(i)+1 {
			w.open = append(w.open, i)
		}
	}
	return any
}

// hosted joins the parties of some lists that the node hosts.
func (w *witnesses) hosted(lists ...[]party) []party {
	first := len(w.parties)
	for _, list := range lists {
		for _, p := range list {
			if w.view.hostsParty(p) {
				w.parties = append(w.parties, p)
			}
		}
	}
	joined := w.view.names.sortParties(w.parties[first:])
	w.parties = w.parties[:first+len(joined)]
	return joined[:len(joined):len(joined)]
}

// acsDelta reports whether tree node i changes the set of contracts that are active on
// the node. Creating a contract that the same transaction archives does not.
func (w *witnesses) acsDelta(u *update, i int) bool {
	n := &u.nodes[i]
	if len(w.stakes[i]) == 0 || n.choice != "" && !n.consuming {
		return false
	}
	if n.contract.createdAt != u.effectiveAt {
		return true
	}
	for j := range u.nodes {
		o := &u.nodes[j]
		if j != i && o.contract == n.contract && (o.choice == "") != (n.choice == "") && (o.choice == "" || o.consuming) {
			return false
		}
	}
	return true
}
