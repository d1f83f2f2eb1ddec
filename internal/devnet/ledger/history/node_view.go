package history

import (
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// NodeView is what a participant can see. It never changes: parties that are added later
// are asked for by hostsParty.
type NodeView struct {
	Names       *model.Names
	Participant int
	Parties     []model.Party // that it hosts from the start, sorted by text
	hosts       []bool        // by party
	Migration   int64
	start       int64 // µs; the parties were allocated before
}

// NewNodeView returns the view of the participant that c.Node names.
func NewNodeView(c sim.Config, n *model.Names) (*NodeView, error) {
	participant := n.BusiestValidator()
	if c.Node.Participant != "" {
		var ok bool
		if participant, ok = n.ParticipantNamed(c.Node.Participant); !ok {
			return nil, fmt.Errorf("devnet has no participant %q, only %s to %s", c.Node.Participant,
				model.Hint(n.Participants[0]), model.Hint(n.Participants[len(n.Participants)-1]))
		}
	}
	v := &NodeView{Names: n, Participant: participant, hosts: make([]bool, len(n.Parties)),
		Migration: c.Node.MigrationID, start: c.Start.UnixMicro()}
	for p := range n.Parties {
		if n.IsHosted(model.Party(p), participant) {
			v.Parties, v.hosts[p] = append(v.Parties, model.Party(p)), true
		}
	}
	v.Parties = n.SortParties(v.Parties)
	return v, nil
}

// HostsParty reports whether the node hosts p.
func (v *NodeView) HostsParty(p model.Party) bool {
	if int(p) < len(v.hosts) {
		return v.hosts[p]
	}
	return v.Names.IsHosted(p, v.Participant)
}

// Uid names the participant as the node itself does: hint::fingerprint.
func (v *NodeView) Uid() string { return v.Names.Participants[v.Participant] }

// Member names the participant as a member of a synchronizer: PAR::hint::fingerprint.
func (v *NodeView) Member() string { return "PAR::" + v.Uid() }

// Offsets of the node's stream: first the allocations of its parties from 1 on, then two
// for each entry of the network's history, seen or not: one for a topology transaction
// that precedes it, one for itself. So there are gaps, as with every node.

// OffsetOf is the offset of an entry on the node's stream.
func (v *NodeView) OffsetOf(entry uint64) int64 { return int64(len(v.Parties)) + 2*int64(entry) + 2 }

// entryAt returns the number of the last entry at or below an offset, -1 before the first.
func (v *NodeView) entryAt(offset int64) int { return max(-1, int((offset-int64(len(v.Parties)))/2)-1) }
