package devnet

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// party is the number of a party: an index of names.parties.
type party int32

// dso is the governance party. It sees all public history.
const dso party = 0

// names are the texts of a ledger: fixed before its first update, but for parties that
// are added, so that executing and rendering may read them at the same time.
type names struct {
	ids idSpaces
	// parties by number, as hint::1220 and 64 hex digits. In order: the governance
	// party, super-validators, validators, app providers, users.
	parties []string
	// participants by number: the node of each super-validator, then of each validator.
	participants []string
	// synchronizers by number.
	synchronizers []string
	// templateIDs by template number and package version.
	templateIDs [][versions]string
	// interfaces by number, as package id:Module:Entity.
	interfaces [interfaceCount]string

	superValidators, validators, providers, users span
	// external are the users that sign their transactions themselves: the last of them.
	external span

	// added are the parties that were allocated while the ledger went on.
	added addedParties
}

// span is a run of party numbers: first up to and excluding end.
type span struct{ first, end party }

func (s span) len() int           { return int(s.end - s.first) }
func (s span) at(i int) party     { return s.first + party(i) }
func (s span) has(p party) bool   { return p >= s.first && p < s.end }
func (s span) index(p party) int  { return int(p - s.first) }
func (s span) of(r *random) party { return s.at(r.below(s.len())) }

const (
	superValidatorCount = 4
	minParties          = 20
	updatesPerParty     = 200
)

// newNames makes up the texts of a ledger of so many updates, on 1 or 2 synchronizers.
func newNames(seed uint64, updates, synchronizers int) *names {
	n := &names{ids: newIDSpaces(seed)}
	total := max(minParties, updates/updatesPerParty)
	validators := min(max(3, total/12), 400)
	providers := min(max(5, total/100), 12)

	n.addParties(seed, "DSO", 1)
	n.superValidators = n.addParties(seed, "Super-Validator", superValidatorCount)
	n.validators = n.addParties(seed, "validator", validators)
	n.providers = n.addParties(seed, "app-provider", providers)
	users := max(8, total-len(n.parties))
	n.users = n.addParties(seed, "user", users)

	n.external = span{n.users.end - party(max(2, n.users.len()/6)), n.users.end}

	for p := n.superValidators.first; p < n.validators.end; p++ {
		n.participants = append(n.participants, "participant-"+n.name(p))
	}
	for i := range synchronizers {
		hint := [...]string{"global-domain", "harbor-domain"}[i]
		n.synchronizers = append(n.synchronizers, identity(seed, hint))
	}
	n.templateIDs = make([][versions]string, len(templates))
	for i, t := range templates {
		for v := range versions {
			pkg := newIDSpace(seed, "package "+t.pkg.name).hash(uint64(v))
			if t.pkg.oneVersion {
				pkg = newIDSpace(seed, "package "+t.pkg.name).hash(0)
			}
			n.templateIDs[i][v] = hex.EncodeToString(pkg[:]) + ":" + t.name
		}
	}
	for i, name := range interfaceNames {
		pkg := newIDSpace(seed, "package "+name[0]).hash(0)
		n.interfaces[i] = hex.EncodeToString(pkg[:]) + ":" + name[1]
	}
	return n
}

// addParties names count parties of one kind. A single one goes without a number.
func (n *names) addParties(seed uint64, hint string, count int) span {
	s := span{first: party(len(n.parties))}
	for i := range count {
		name := hint
		if count > 1 {
			name = fmt.Sprintf("%s-%d", hint, i+1)
		}
		n.parties = append(n.parties, identity(seed, name))
	}
	s.end = party(len(n.parties))
	return s
}

// identity returns hint::1220 and 64 hex digits.
func identity(seed uint64, hint string) string {
	h := newIDSpace(seed, "identity "+hint).hash(0)
	return hint + partyNamespaceMark + fingerprintPrefix + hex.EncodeToString(h[:])
}

// participantOf returns the number of the node that hosts p. The governance party
// acts through the nodes of the super-validators, in turn given by salt.
func (n *names) participantOf(p party, salt uint64) int {
	switch {
	case p == dso:
		return int(salt % superValidatorCount)
	case int(p) >= len(n.parties):
		return n.addedParty(p).participant
	case p < n.validators.end:
		return n.superValidators.index(p)
	}
	return superValidatorCount + int(p)%n.validators.len()
}

// validatorOf returns the operator of the validator that hosts p.
func (n *names) validatorOf(p party) party {
	return n.superValidators.at(n.participantOf(p, 0))
}

// compare orders parties by their text.
func (n *names) compare(p, q party) int { return strings.Compare(n.name(p), n.name(q)) }

// sortParties sorts parties by their text and drops duplicates. The lists are
// short, so insertion beats anything cleverer.
func (n *names) sortParties(ps []party) []party {
	kept := ps[:0]
	for _, p := range ps {
		at := len(kept)
		for at > 0 && n.name(kept[at-1]) > n.name(p) {
			at--
		}
		if at > 0 && kept[at-1] == p {
			continue
		}
		kept = append(kept, p)
		copy(kept[at+1:], kept[at:])
		kept[at] = p
	}
	return kept
}

// packageIDLength is the number of digits in front of the first colon of a template id.
const packageIDLength = 64
