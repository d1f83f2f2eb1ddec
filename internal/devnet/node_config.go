package devnet

import (
	"fmt"
	"strings"
)

// nodeView is what a participant can see. It never changes: parties that are added later
// are asked for by hostsParty.
type nodeView struct {
	names       *names
	participant int
	parties     []party // that it hosts from the start, sorted by text
	hosts       []bool  // by party
	migration   int64
	start       int64 // µs; the parties were allocated before
}

func newNodeView(c Config, n *names) (*nodeView, error) {
	participant := n.busiestValidator()
	if c.Node.Participant != "" {
		var ok bool
		if participant, ok = n.participantNamed(c.Node.Participant); !ok {
			return nil, fmt.Errorf("devnet has no participant %q, but %s to %s", c.Node.Participant,
				hint(n.participants[0]), hint(n.participants[len(n.participants)-1]))
		}
	}
	v := &nodeView{names: n, participant: participant, hosts: make([]bool, len(n.parties)),
		migration: c.Node.MigrationID, start: c.Start.UnixMicro()}
	for p := range n.parties {
		if n.isHosted(party(p), participant) {
			v.parties, v.hosts[p] = append(v.parties, party(p)), true
		}
	}
	v.parties = n.sortParties(v.parties)
	return v, nil
}

// hostsParty reports whether the node hosts p.
func (v *nodeView) hostsParty(p party) bool {
	if int(p) < len(v.hosts) {
		return v.hosts[p]
	}
	return v.names.isHosted(p, v.participant)
}

// hint is the part of an identity before its fingerprint.
func hint(identity string) string {
	name, _, _ := strings.Cut(identity, partyNamespaceMark)
	return name
}

// isHosted reports whether a participant hosts p. All super-validators host the
// governance party.
func (n *names) isHosted(p party, participant int) bool {
	if p == dso {
		return participant < superValidatorCount
	}
	return n.participantOf(p, 0) == participant
}

func (n *names) participantNamed(name string) (int, bool) {
	for i, uid := range n.participants {
		if name == uid || name == "PAR::"+uid || name == hint(uid) || "participant-"+name == hint(uid) {
			return i, true
		}
	}
	return 0, false
}

// busiestValidator estimates which validator's node sees most: transfers name one of
// few apps, and users with low numbers are busier than others.
func (n *names) busiestValidator() int {
	weights := make([]int, len(n.participants))
	users := n.users.len()
	for i := range users {
		weights[n.participantOf(n.users.at(i), 0)] += 2*(users-i) + 3*users
	}
	for i := range n.providers.len() {
		weights[n.participantOf(n.providers.at(i), 0)] += 4 * users * users / n.providers.len()
	}
	busiest := superValidatorCount
	for i := superValidatorCount; i < len(weights); i++ {
		if weights[i] > weights[busiest] {
			busiest = i
		}
	}
	return busiest
}

// uid names the participant: PAR::hint::fingerprint.
func (v *nodeView) uid() string { return "PAR::" + v.names.participants[v.participant] }

// Offsets of the node's stream: first the allocations of its parties from 1 on, then two
// for each entry of the network's history, seen or not: one for a topology transaction
// that precedes it, one for itself. So there are gaps, as with every node.

func (v *nodeView) offsetOf(entry uint64) int64 { return int64(len(v.parties)) + 2*int64(entry) + 2 }

// entryAt returns the number of the last entry at or below an offset, -1 before the first.
func (v *nodeView) entryAt(offset int64) int { return max(-1, int((offset-int64(len(v.parties)))/2)-1) }
