package model

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Party is the number of a party: an index of names.parties.
type Party int32

// Dso is the governance party. It sees all public history.
const Dso Party = 0

// Names are the texts of a ledger: fixed before its first update, but for parties that
// are added, so that executing and rendering may read them at the same time.
type Names struct {
	IDs IDSpaces
	// parties by number, as hint::1220 and 64 hex digits. In order: the governance
	// party, super-validators, validators, app providers, users.
	Parties []string
	// participants by number: the node of each super-validator, then of each validator.
	Participants []string
	// synchronizers by number.
	Synchronizers []string
	// templateIDs by template number and package version.
	TemplateIDs [][Versions]string
	// interfaces by number, as package id:Module:Entity.
	Interfaces [interfaceCount]string

	SuperValidators, Validators, Providers, Users Span
	// external are the users that sign their transactions themselves: the last of them.
	External Span

	// added are the parties that were allocated while the ledger went on.
	added addedParties
}

// Span is a run of party numbers: first up to and excluding end.
type Span struct{ First, End Party }

// Len is the number of parties.
func (s Span) Len() int           { return int(s.End - s.First) }
func (s Span) At(i int) Party     { return s.First + Party(i) }
func (s Span) Has(p Party) bool   { return p >= s.First && p < s.End }
func (s Span) Index(p Party) int  { return int(p - s.First) }
func (s Span) Of(r *Random) Party { return s.At(r.Below(s.Len())) }

const (
	SuperValidatorCount = 4
	minParties          = 20
	updatesPerParty     = 200
)

// NewNames makes up the texts of a ledger of so many updates, on 1 or 2 synchronizers.
func NewNames(seed uint64, updates, synchronizers int) *Names {
	n := &Names{IDs: NewIDSpaces(seed)}
	total := max(minParties, updates/updatesPerParty)
	validators := min(max(3, total/12), 400)
	providers := min(max(5, total/100), 12)

	n.addParties(seed, "DSO", 1)
	n.SuperValidators = n.addParties(seed, "Super-Validator", SuperValidatorCount)
	n.Validators = n.addParties(seed, "validator", validators)
	n.Providers = n.addParties(seed, "app-provider", providers)
	users := max(8, total-len(n.Parties))
	n.Users = n.addParties(seed, "user", users)

	n.External = Span{n.Users.End - Party(max(2, n.Users.Len()/6)), n.Users.End}

	for p := n.SuperValidators.First; p < n.Validators.End; p++ {
		n.Participants = append(n.Participants, "participant-"+n.Name(p))
	}
	for i := range synchronizers {
		hint := [...]string{"global-domain", "harbor-domain"}[i]
		n.Synchronizers = append(n.Synchronizers, identity(seed, hint))
	}
	n.TemplateIDs = make([][Versions]string, len(Templates))
	for i, t := range Templates {
		for v := range Versions {
			pkg := NewIDSpace(seed, "package "+t.Pkg.Name).Hash(uint64(v))
			if t.Pkg.OneVersion {
				pkg = NewIDSpace(seed, "package "+t.Pkg.Name).Hash(0)
			}
			n.TemplateIDs[i][v] = hex.EncodeToString(pkg[:]) + ":" + t.Name
		}
	}
	for i, name := range InterfaceNames {
		pkg := NewIDSpace(seed, "package "+name[0]).Hash(0)
		n.Interfaces[i] = hex.EncodeToString(pkg[:]) + ":" + name[1]
	}
	return n
}

// addParties names count parties of one kind. A single one goes without a number.
func (n *Names) addParties(seed uint64, hint string, count int) Span {
	s := Span{First: Party(len(n.Parties))}
	for i := range count {
		name := hint
		if count > 1 {
			name = fmt.Sprintf("%s-%d", hint, i+1)
		}
		n.Parties = append(n.Parties, identity(seed, name))
	}
	s.End = Party(len(n.Parties))
	return s
}

// identity returns hint::1220 and 64 hex digits.
func identity(seed uint64, hint string) string {
	h := NewIDSpace(seed, "identity "+hint).Hash(0)
	return hint + PartyNamespaceMark + FingerprintPrefix + hex.EncodeToString(h[:])
}

// ParticipantOf returns the number of the node that hosts p. The governance party
// acts through the nodes of the super-validators, in turn given by salt.
func (n *Names) ParticipantOf(p Party, salt uint64) int {
	switch {
	case p == Dso:
		return int(salt % SuperValidatorCount)
	case int(p) >= len(n.Parties):
		return n.addedParty(p).Participant
	case p < n.Validators.End:
		return n.SuperValidators.Index(p)
	}
	return SuperValidatorCount + int(p)%n.Validators.Len()
}

// ValidatorOf returns the operator of the validator that hosts p.
func (n *Names) ValidatorOf(p Party) Party {
	return n.SuperValidators.At(n.ParticipantOf(p, 0))
}

// Compare orders parties by their text.
func (n *Names) Compare(p, q Party) int { return strings.Compare(n.Name(p), n.Name(q)) }

// SortParties sorts parties by their text and drops duplicates. The lists are
// short, so insertion beats anything cleverer.
func (n *Names) SortParties(ps []Party) []Party {
	kept := ps[:0]
	for _, p := range ps {
		at := len(kept)
		for at > 0 && n.Name(kept[at-1]) > n.Name(p) {
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

// PackageIDLength is the number of digits in front of the first colon of a template id.
const PackageIDLength = 64
