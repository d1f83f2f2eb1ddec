package nodeapi

import (
	"net/http"
	"slices"
	"strings"
	"sync"
)

// vetting is what the node no longer vets, until it ends. Commands and filters use all packages all the
// same: nothing of the network would work without its own.
type vetting struct {
	mu       sync.Mutex
	unvetted map[string]bool // by id
	serial   int32           // of the last change
}

type vettedRequest struct {
	Packages struct {
		IDs      []string `json:"packageIds"`
		Prefixes []string `json:"packageNamePrefixes"`
	} `json:"packageMetadataFilter"`
	Topology struct {
		Participants  []string `json:"participantIds"`
		Synchronizers []string `json:"synchronizerIds"`
	} `json:"topologyStateFilter"`
}

// vettable are all packages of the node; those that were uploaded are known by their ids alone.
func (n *partyServer) vettable() []knownPackage {
	list := n.knownPackages()
	for _, id := range n.archives.ids() {
		list = append(list, knownPackage{ID: id})
	}
	return list
}

// vetted are the packages that the node vets.
func (n *partyServer) vetted(unvetted map[string]bool) []knownPackage {
	return slices.DeleteFunc(n.vettable(), func(p knownPackage) bool { return unvetted[p.ID] })
}

// vettedPackages answers with what this node has vetted on each synchronizer, which is the same on all.
func (n *partyServer) vettedPackages(_ *http.Request, q *vettedRequest) (any, error) {
	n.vetting.mu.Lock()
	defer n.vetting.mu.Unlock()
	filter := q.Packages
	packages := slices.DeleteFunc(n.vetted(n.vetting.unvetted), func(p knownPackage) bool {
		named := slices.Contains(filter.IDs, p.ID) || slices.ContainsFunc(filter.Prefixes, func(prefix string) bool { return strings.HasPrefix(p.Name, prefix) })
		return !named && len(filter.IDs)+len(filter.Prefixes) > 0
	})
	vetted := []map[string]any{}
	for _, synchronizer := range n.view.Names.Synchronizers {
		if asks(q.Topology.Participants, n.view.Uid()) && asks(q.Topology.Synchronizers, synchronizer) && len(packages) > 0 {
			vetted = append(vetted, n.vettedOn(synchronizer, packages, n.vetting.serial))
		}
	}
	return map[string]any{"vettedPackages": vetted, "nextPageToken": ""}, nil
}

func (n *partyServer) vettedOn(synchronizer string, packages []knownPackage, serial int32) map[string]any {
	return map[string]any{"packages": packages, "participantId": n.view.Uid(), "synchronizerId": synchronizer, "topologySerial": serial + 1}
}

type vettingChange struct {
	Value struct {
		Packages []knownPackage `json:"packages"`
	} `json:"value"`
}

type vettingRequest struct {
	Changes []struct {
		Operation struct {
			Vet   *vettingChange `json:"Vet"`
			Unvet *vettingChange `json:"Unvet"`
		} `json:"operation"`
	} `json:"changes"`
	DryRun         bool   `json:"dryRun"`
	SynchronizerID string `json:"synchronizerId"`
}

// updateVetting vets packages and unvets others, and answers with what is vetted before and after.
func (n *partyServer) updateVetting(_ *http.Request, q *vettingRequest) (any, error) {
	if err := n.checkNewParty("", q.SynchronizerID, ""); err != nil {
		return nil, err
	}
	if q.SynchronizerID == "" {
		q.SynchronizerID = n.view.Names.Synchronizers[0]
	}
	n.vetting.mu.Lock()
	defer n.vetting.mu.Unlock()
	before := n.vettedOn(q.SynchronizerID, n.vetted(n.vetting.unvetted), n.vetting.serial)
	unvetted := map[string]bool{}
	for id := range n.vetting.unvetted {
		unvetted[id] = true
	}
	for _, change := range q.Changes {
		if err := n.changeVetting(unvetted, change.Operation.Vet, false); err != nil {
			return nil, err
		}
		if err := n.changeVetting(unvetted, change.Operation.Unvet, true); err != nil {
			return nil, err
		}
	}
	after := n.vettedOn(q.SynchronizerID, n.vetted(unvetted), n.vetting.serial+1)
	if !q.DryRun {
		n.vetting.unvetted = unvetted
		n.vetting.serial++
	}
	return map[string]any{"pastVettedPackages": before, "newVettedPackages": after}, nil
}

// changeVetting notes a change, which may be absent. Packages are named by id, or by name and version.
func (n *partyServer) changeVetting(unvetted map[string]bool, change *vettingChange, unvet bool) error {
	if change == nil {
		return nil
	}
	for _, named := range change.Value.Packages {
		found := false
		for _, p := range n.vettable() {
			if named.ID != "" && named.ID != p.ID || named.Name != "" && named.Name != p.Name || named.Version != "" && named.Version != p.Version {
				continue
			}
			found = true
			unvetted[p.ID] = unvet
		}
		if !found || named == (knownPackage{}) {
			return nodeRefusal("PACKAGE_NOT_FOUND", "Could not find package %s.", strings.TrimSpace(named.ID+" "+named.Name+" "+named.Version))
		}
	}
	return nil
}

// preferredPackage answers with the package of a name that some parties can use, which is the one in use.
func (n *partyServer) preferredPackage(r *http.Request) (any, error) {
	query := r.URL.Query()
	name := query.Get("package-name")
	if name == "" {
		return nil, missingField("package-name")
	}
	synchronizer := query.Get("synchronizer-id")
	if err := n.checkNewParty("", synchronizer, ""); err != nil {
		return nil, err
	}
	for _, party := range query["parties"] {
		if !n.knowsParty(party) {
			return map[string]any{}, nil
		}
	}
	id, version, ok := n.packageNamed(name)
	if !ok {
		return map[string]any{}, nil
	}
	if synchronizer == "" {
		synchronizer = n.view.Names.Synchronizers[0]
	}
	return map[string]any{"packagePreference": map[string]any{"packageReference": knownPackage{id, name, version}, "synchronizerId": synchronizer}}, nil
}
