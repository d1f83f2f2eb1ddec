package devnet

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"sync/atomic"
)

// addedParty is a party that was allocated while the ledger went on.
type addedParty struct {
	name        string
	participant int
	external    bool // signs its transactions itself
}

// addedParties are numbered behind the parties that were there from the start. Readers
// need no lock: what was added never changes.
type addedParties struct {
	list   atomic.Pointer[[]addedParty]
	mu     sync.RWMutex
	byName map[string]party // all parties; nil until somebody asks
}

// name returns the id of a party.
func (n *names) name(p party) string {
	if int(p) < len(n.parties) {
		return n.parties[p]
	}
	return n.addedParty(p).name
}

func (n *names) addedParty(p party) addedParty { return (*n.added.list.Load())[int(p)-len(n.parties)] }

// count is the number of parties.
func (n *names) count() int {
	if added := n.added.list.Load(); added != nil {
		return len(n.parties) + len(*added)
	}
	return len(n.parties)
}

// isExternal reports whether p signs its transactions itself.
func (n *names) isExternal(p party) bool {
	if int(p) < len(n.parties) {
		return n.external.has(p)
	}
	return n.addedParty(p).external
}

// named returns the party with an id.
func (n *names) named(id string) (party, bool) {
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
func (n *names) indexed() map[string]party {
	if n.added.byName == nil {
		n.added.byName = make(map[string]party, len(n.parties))
		for p := range n.count() {
			n.added.byName[n.name(party(p))] = party(p)
		}
	}
	return n.added.byName
}

// add adds a party whose id is not in use. Parties are added one at a time.
func (n *names) add(a addedParty) party {
	n.added.mu.Lock()
	defer n.added.mu.Unlock()
	index, p := n.indexed(), party(n.count())
	var list []addedParty
	if old := n.added.list.Load(); old != nil {
		list = *old
	}
	list = append(list, a) // readers of the shorter list do not look behind its end
	n.added.list.Store(&list)
	index[a.name] = p
	return p
}

// Fingerprint is what identifies an ed25519 public key, of 32 bytes: 1220 and the hex
// digits of the SHA-256 of the key behind the purpose number 12, as the network has it.
// The party of the key is hint::fingerprint.
func Fingerprint(publicKey []byte) string {
	const purpose = "\x00\x00\x00\x0c"
	h := sha256.Sum256(append([]byte(purpose), publicKey...))
	return fingerprintPrefix + hex.EncodeToString(h[:])
}
