package devnet

import "slices"

// conclude completes the entry of a submission that succeeded.
func (x *executor) conclude(commandID string, actAs []party, external bool, home int) {
	u := x.tx.current
	u.command = commandID
	u.public = publicNodes(u)
	for _, p := range actAs {
		x.users.managed[p] = true
	}
	if u.public != nil && len(u.public) == 0 {
		u.kind = verdictOnly
	}
	x.judge(actAs[0], home)
	if u.kind != verdictOnly {
		u.external = external || x.names.isExternal(u.verdict.submitter)
		x.tx.batch.counted++
		x.tx.updates++
	}
	x.absorb(u)
	x.bank.checkSupply()
}

// judge derives the verdict.
func (x *executor) judge(submitter party, home int) {
	u := x.tx.current
	v := x.verdicts.newVerdict(u, true)
	v.submitter, v.participant = submitter, home
	x.verdicts.addViews(v, u)
	x.verdicts.measure(v, u)
	u.verdict = v
}

// publicNodes is the part of a transaction that the governance party is informed of, nil if
// that is all of it. Nodes are numbered anew, and their contracts remember the new numbers.
func publicNodes(u *update) []node {
	if !slices.ContainsFunc(u.nodes, func(n node) bool { return n.contract.private }) {
		return nil
	}
	public := make([]node, 0, len(u.nodes))
	for i := 0; i < len(u.nodes); {
		if !informsGovernance(&u.nodes[i]) {
			i++
			continue
		}
		shift, end := int32(len(public)-i), int(u.nodes[i].end)
		for ; i < end; i++ { // whoever is informed of a node is of all below
			n := u.nodes[i]
			n.end += shift
			if n.choice == "" {
				n.contract.node = int32(len(public))
			}
			public = append(public, n)
		}
	}
	return public
}

// informsGovernance reports whether the governance party is informed of a node itself.
func informsGovernance(n *node) bool {
	return !n.contract.private || slices.Contains(n.actors, dso)
}

// index prepares the executor for commands when the first one comes.
func (x *executor) index() {
	if x.tx.byNumber != nil {
		return
	}
	x.tx.byNumber = make(map[uint64]*contract, 2*len(x.tx.active))
	for _, c := range x.tx.active {
		x.tx.byNumber[c.number] = c
	}
	for _, open := range x.private.open {
		for _, c := range open {
			x.tx.byNumber[c.number] = c
		}
	}
	for _, open := range x.private.requests {
		for _, c := range open {
			x.tx.byNumber[c.number] = c
		}
	}
	x.ans.indexAccounts()
	x.users.managed = map[party]bool{}
}
