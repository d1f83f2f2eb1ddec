package devnet

import (
	"fmt"
	"strings"
)

// NodeView is what a participant can see. It never changes: parties that are added later
// are asked for by hostsParty.
type NodeView struct {
	Names       *Names
	Participant int
	Parties     []Party // that it hosts from the start, sorted by text
	hosts       []bool  // by party
	Migration   int64
	start       int64 // µs; the parties were allocated before
}

func NewNodeView(c Config, n *Names) (*NodeView, error) {
	participant := n.BusiestValidator()
	if c.Node.Participant != "" {
		var ok bool
		if participant, ok = n.participantNamed(c.Node.Participant); !ok {
			return nil, fmt.Errorf("devnet has no participant %q, but %s to %s", c.Node.Participant,
				Hint(n.Participants[0]), Hint(n.Participants[len(n.Participants)-1]))
		}
	}
	v := &NodeView{Names: n, Participant: participant, hosts: make([]bool, len(n.Parties)),
		Migration: c.Node.MigrationID, start: c.Start.UnixMicro()}
	for p := range n.Parties {
		if n.isHosted(Party(p), participant) {
			v.Parties, v.hosts[p] = append(v.Parties, Party(p)), true
		}
	}
	v.Parties = n.SortParties(v.Parties)
	return v, nil
}

// HostsParty reports whether the node hosts p.
func (v *NodeView) HostsParty(p Party) bool {
	if int(p) < len(v.hosts) {
		return v.hosts[p]
	}
	return v.Names.isHosted(p, v.Participant)
}

// Hint is the part of an identity before its fingerprint.
func Hint(identity string) string {
	name, _, _ := strings.Cut(identity, PartyNamespaceMark)
	return name
}

// isHosted reports whether a participant hosts p. All super-validators host the
// governance party.
func (n *Names) isHosted(p Party, participant int) bool {
	if p == Dso {
		return participant < SuperValidatorCount
	}
	return n.ParticipantOf(p, 0) == participant
}

func (n *Names) participantNamed(name string) (int, bool) {
	for i, uid := range n.Participants {
		if name == uid || name == "PAR::"+uid || name == Hint(uid) || "participant-"+name == Hint(uid) {
			return i, true
		}
	}
	return 0, false
}

// BusiestValidator estimates which validator's node sees most: transfers name one of
// few apps, and users with low numbers are busier than others.
func (n *Names) BusiestValidator() int {
	weights := make([]int, len(n.Participants))
	users := n.Users.Len()
	for i := range users {
		weights[n.ParticipantOf(n.Users.At(i), 0)] += 2*(users-i) + 3*users
	}
	for i := range n.Providers.Len() {
		weights[n.ParticipantOf(n.Providers.At(i), 0)] += 4 * users * users / n.Providers.Len()
	}
	busiest := SuperValidatorCount
	for i := SuperValidatorCount; i < len(weights); i++ {
		if weights[i] > weights[busiest] {
			busiest = i
		}
	}
	return busiest
}

// Uid names the participant: PAR::hint::fingerprint.
func (v *NodeView) Uid() string { return "PAR::" + v.Names.Participants[v.Participant] }

// Offsets of the node's stream: first the allocations of its parties from 1 on, then two
// for each entry of the network's history, seen or not: one for a topology transaction
// that precedes it, one for itself. So there are gaps, as with every node.

func (v *NodeView) OffsetOf(entry uint64) int64 { return int64(len(v.Parties)) + 2*int64(entry) + 2 }

// entryAt returns the number of the last entry at or below an offset, -1 before the first.
func (v *NodeView) entryAt(offset int64) int { return max(-1, int((offset-int64(len(v.Parties)))/2)-1) }
