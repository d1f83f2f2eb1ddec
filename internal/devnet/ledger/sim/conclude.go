package sim

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// Conclude completes the entry of a submission that succeeded.
func (x *Executor) Conclude(commandID string, actAs []model.Party, external bool, home int) {
	u := x.Tx.Current
	u.Command = commandID
	u.Public = publicNodes(u)
	for _, p := range actAs {
		x.users.managed[p] = true
	}
	if u.Public != nil && len(u.Public) == 0 {
		u.Kind = VerdictOnly
	}
	x.judge(actAs[0], home)
	if u.Kind != VerdictOnly {
		u.External = external || x.Names.IsExternal(u.Verdict.Submitter)
		x.Tx.Batch.Counted++
		x.Tx.Updates++
	}
	x.absorb(u)
	x.Bank.checkSupply()
}

// judge derives the verdict.
func (x *Executor) judge(submitter model.Party, home int) {
	u := x.Tx.Current
	v := x.Verdicts.newVerdict(u, true)
	v.Submitter, v.Participant = submitter, home
	x.Verdicts.addViews(v, u)
	x.Verdicts.measure(v, u)
	u.Verdict = v
}

// publicNodes is the part of a transaction that the governance party is informed of, nil if
// that is all of it. Nodes are numbered anew, and their contracts remember the new numbers.
func publicNodes(u *Update) []Node {
	if !slices.ContainsFunc(u.Nodes, func(n Node) bool { return n.Contract.Private }) {
		return nil
	}
	public := make([]Node, 0, len(u.Nodes))
	for i := 0; i < len(u.Nodes); {
		if !informsGovernance(&u.Nodes[i]) {
			i++
			continue
		}
		shift, end := int32(len(public)-i), int(u.Nodes[i].End)
		for ; i < end; i++ { // whoever is informed of a node is of all below
			n := u.Nodes[i]
			n.End += shift
			if n.Choice == "" {
				n.Contract.Node = int32(len(public))
			}
			public = append(public, n)
		}
	}
	return public
}

// informsGovernance reports whether the governance party is informed of a node itself.
func informsGovernance(n *Node) bool {
	return !n.Contract.Private || slices.Contains(n.Actors, model.Dso)
}

// Index prepares the executor for commands when the first one comes.
func (x *Executor) Index() {
	if x.Tx.ByNumber != nil {
		return
	}
	x.Tx.ByNumber = make(map[uint64]*model.Contract, 2*len(x.Tx.Active))
	for _, c := range x.Tx.Active {
		x.Tx.ByNumber[c.Number] = c
	}
	for _, open := range x.Private.open {
		for _, c := range open {
			x.Tx.ByNumber[c.Number] = c
		}
	}
	for _, open := range x.Private.requests {
		for _, c := range open {
			x.Tx.ByNumber[c.Number] = c
		}
	}
	x.Ans.indexAccounts()
	x.users.managed = map[model.Party]bool{}
}
