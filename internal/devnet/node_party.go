package devnet

import (
	"crypto/ed25519"
	"maps"
	"slices"
	"strconv"
	"sync"
)

// maxPartiesPage is the longest page of parties.
const maxPartiesPage = 10_000

// partyDetails is a party as answers have it.
type partyDetails struct {
	Party              string     `json:"party"`
	Local              bool       `json:"isLocal"`
	Metadata           objectMeta `json:"localMetadata"`
	IdentityProviderID string     `json:"identityProviderId"`
}

// nodeParties is what is kept about parties beside where they are hosted: keys and
// annotations. Its methods may be called concurrently.
type nodeParties struct {
	mu   sync.Mutex
	meta map[string]partyMeta
	keys map[string]ed25519.PublicKey // of the parties that sign for themselves
	// journal, if not nil, keeps the annotations.
	journal *journal
}

type partyMeta struct {
	version     int64
	annotations map[string]string
}

func newNodeParties() *nodeParties {
	return &nodeParties{meta: map[string]partyMeta{}, keys: map[string]ed25519.PublicKey{}}
}

func (p *nodeParties) setKey(party string, key ed25519.PublicKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys[party] = key
}

// key returns the key by which a party signs, false if it does not sign for itself.
func (p *nodeParties) key(party string) (ed25519.PublicKey, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key, ok := p.keys[party]
	return key, ok
}

func (p *nodeParties) metadata(party string) objectMeta {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.meta[party].wire()
}

func (m partyMeta) wire() objectMeta {
	annotations := maps.Clone(m.annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	return objectMeta{strconv.FormatInt(m.version, 10), annotations}
}

// annotate changes what is kept with a party.
func (p *nodeParties) annotate(party string, changes objectMeta) (objectMeta, error) {
	if err := changes.check(); err != nil {
		return objectMeta{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.meta[party]
	if v := changes.ResourceVersion; v != "" && v != strconv.FormatInt(m.version, 10) {
		return objectMeta{}, nodeRefusal("CONCURRENT_PARTY_DETAILS_UPDATE_DETECTED",
			"update of party %q failed: resource version %s is not the current one", party, v)
	}
	m.annotations = mergedAnnotations(m.annotations, changes.Annotations)
	m.version++
	if p.journal != nil {
		if err := p.journal.add(journalEntry{Annotated: &keptParty{party, m.version, m.annotations}}); err != nil {
			return objectMeta{}, err
		}
	}
	p.meta[party] = m
	return m.wire(), nil
}

func (n *partyServer) detailsOf(party string) partyDetails {
	return partyDetails{Party: party, Local: n.hostsParty(party), Metadata: n.parties.metadata(party)}
}

func (n *partyServer) hostsParty(id string) bool {
	_, ok := n.formats.party(id)
	return ok
}

func (n *partyServer) knowsParty(id string) bool {
	_, ok := n.view.names.named(id)
	return ok
}

// partiesAfter returns up to limit parties of the network that begin with a prefix and
// stand behind one of them, by id, and whether there are more.
func (n *partyServer) partiesAfter(after, prefix string, limit int) (found []partyDetails, more bool) {
	names := n.view.names
	ids := make([]string, names.count())
	for p := range ids {
		ids[p] = names.name(party(p))
	}
	slices.Sort(ids)
	first, there := slices.BinarySearch(ids, max(after, prefix))
	if there && ids[first] == after {
		first++
	}
	for _, id := range ids[first:] {
		if len(id) < len(prefix) || id[:len(prefix)] != prefix {
			break
		}
		if len(found) == limit {
			return found, true
		}
		found = append(found, n.detailsOf(id))
	}
	return found, false
}
