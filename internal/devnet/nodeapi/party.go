package nodeapi

import (
	"maps"
	"slices"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// maxPartiesPage is the longest page of parties.
const maxPartiesPage = 10_000

// PartyDetails is a party as answers have it.
type PartyDetails struct {
	Party              string            `json:"party"`
	Local              bool              `json:"isLocal"`
	Metadata           ledger.ObjectMeta `json:"localMetadata"`
	IdentityProviderID string            `json:"identityProviderId"`
}

func metaOf(m ledger.PartyMeta) ledger.ObjectMeta {
	annotations := maps.Clone(m.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	return ledger.ObjectMeta{ResourceVersion: strconv.FormatInt(m.Version, 10), Annotations: annotations}
}

// annotate changes what is kept with a party.
func annotate(p *ledger.NodeParties, party string, changes ledger.ObjectMeta) (ledger.ObjectMeta, error) {
	if err := checkMeta(changes); err != nil {
		return ledger.ObjectMeta{}, err
	}
	m, err := p.Annotate(party, func(m ledger.PartyMeta) (map[string]string, error) {
		if v := changes.ResourceVersion; v != "" && v != strconv.FormatInt(m.Version, 10) {
			return nil, nodeRefusal("CONCURRENT_PARTY_DETAILS_UPDATE_DETECTED",
				"update of party %q failed: resource version %s is not the current one", party, v)
		}
		return mergedAnnotations(m.Annotations, changes.Annotations), nil
	})
	if err != nil {
		return ledger.ObjectMeta{}, err
	}
	return metaOf(m), nil
}

func (n *partyServer) detailsOf(party string) PartyDetails {
	return PartyDetails{Party: party, Local: n.hostsParty(party), Metadata: metaOf(n.parties.Metadata(party))}
}

func (n *partyServer) hostsParty(id string) bool {
	_, ok := n.formats.party(id)
	return ok
}

func (n *partyServer) knowsParty(id string) bool {
	_, ok := n.view.Names.Named(id)
	return ok
}

// partiesAfter returns up to limit parties of the network that begin with a prefix and
// stand behind one of them, by id, and whether there are more.
func (n *partyServer) partiesAfter(after, prefix string, limit int) (found []PartyDetails, more bool) {
	names := n.view.Names
	ids := make([]string, names.Count())
	for p := range ids {
		ids[p] = names.Name(model.Party(p))
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
