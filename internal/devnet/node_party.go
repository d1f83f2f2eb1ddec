package devnet

import (
	"maps"
	"slices"
	"strconv"
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

func metaOf(m partyMeta) objectMeta {
	annotations := maps.Clone(m.annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	return objectMeta{strconv.FormatInt(m.version, 10), annotations}
}

// annotate changes what is kept with a party.
func annotate(p *nodeParties, party string, changes objectMeta) (objectMeta, error) {
	if err := checkMeta(changes); err != nil {
		return objectMeta{}, err
	}
	m, err := p.annotate(party, func(m partyMeta) (map[string]string, error) {
		if v := changes.ResourceVersion; v != "" && v != strconv.FormatInt(m.version, 10) {
			return nil, nodeRefusal("CONCURRENT_PARTY_DETAILS_UPDATE_DETECTED",
				"update of party %q failed: resource version %s is not the current one", party, v)
		}
		return mergedAnnotations(m.annotations, changes.Annotations), nil
	})
	if err != nil {
		return objectMeta{}, err
	}
	return metaOf(m), nil
}

func (n *partyServer) detailsOf(party string) partyDetails {
	return partyDetails{Party: party, Local: n.hostsParty(party), Metadata: metaOf(n.parties.metadata(party))}
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
