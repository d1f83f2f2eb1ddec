package model

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"sync/atomic"
)

// AddedParty is a party that was allocated while the ledger went on.
type AddedParty struct {
	Name        string
	Participant int
	External    bool // signs its transactions itself
}

// addedParties are numbered behind the parties that were there from the start. Readers
// need no lock: what was added never changes.
type addedParties struct {
	list   atomic.Pointer[[]AddedParty]
	mu     sync.RWMutex
	byName map[string]Party // all parties; nil until somebody asks
}

// Name returns the id of a party.
func (n *Names) Name(p Party) string {
	if int(p) < len(n.Parties) {
		return n.Parties[p]
	}
	return n.addedParty(p).Name
}

func (n *Names) addedParty(p Party) AddedParty { return (*n.added.list.Load())[int(p)-len(n.Parties)] }

// Count is the number of parties.
func (n *Names) Count() int {
	if added := n.added.list.Load(); added != nil {
		return len(n.Parties) + len(*added)
	}
	return len(n.Parties)
}

// IsExternal reports whether p signs its transactions itself.
func (n *Names) IsExternal(p Party) bool {
	if int(p) < len(n.Parties) {
		return n.External.Has(p)
	}
	return n.addedParty(p).External
}

// Named returns the party with an id.
func (n *Names) Named(id string) (Party, bool) {
	n.added.mu.RLock()
	known := n.added.byName
	p, ok := known[id]
	n.added.mu.RUnlock()
	if known == nil {
		n.added.mu.Lock()
		defer n.added.mu.Unlock()
		p, ok = n.indexed()[id]
	}
	return p, ok
}

// indexed returns the parties by id; the caller holds the lock.
func (n *Names) indexed() map[string]Party {
	if n.added.byName == nil {
		n.added.byName = make(map[string]Party, len(n.Parties))
		for p := range n.Count() {
			n.added.byName[n.Name(Party(p))] = Party(p)
		}
	}
	return n.added.byName
}

// Add adds a party whose id is not in use. Parties are added one at a time.
func (n *Names) Add(a AddedParty) Party {
	n.added.mu.Lock()
	defer n.added.mu.Unlock()
	index, p := n.indexed(), Party(n.Count())
	var list []AddedParty
	if old := n.added.list.Load(); old != nil {
		list = *old
	}
	list = append(list, a) // readers of the shorter list do not look behind its end
	n.added.list.Store(&list)
	index[a.Name] = p
	return p
}

// Fingerprint is what identifies an ed25519 public key, of 32 bytes: 1220 and the hex
// digits of the SHA-256 of the key behind the purpose number 12, as the network has it.
// The party of the key is hint::fingerprint.
func Fingerprint(publicKey []byte) string {
	const purpose = "\x00\x00\x00\x0c"
	h := sha256.Sum256(append([]byte(purpose), publicKey...))
	return FingerprintPrefix + hex.EncodeToString(h[:])
}

// IsHosted reports whether a participant hosts p. All super-validators host the
// governance party.
func (n *Names) IsHosted(p Party, participant int) bool {
	if p == Dso {
		return participant < SuperValidatorCount
	}
	return n.ParticipantOf(p, 0) == participant
}

// ParticipantNamed finds a participant by its uid or a part of it; see sim.NodeConfig.
func (n *Names) ParticipantNamed(name string) (int, bool) {
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

// Hint is the part of an identity before its fingerprint.
func Hint(identity string) string {
	name, _, _ := strings.Cut(identity, PartyNamespaceMark)
	return name
}
