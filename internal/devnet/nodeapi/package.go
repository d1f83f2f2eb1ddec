package nodeapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

type packagesRequest struct {
	Requirements []struct {
		Parties []string `json:"parties"`
		Name    string   `json:"packageName"`
	} `json:"packageVettingRequirements"`
	SynchronizerID string `json:"synchronizerId"`
}

// preferredPackages answers with the packages by which some parties can work together: all
// participants have the same ones.
func (n *partyServer) preferredPackages(_ *http.Request, q *packagesRequest) (any, error) {
	if len(q.Requirements) == 0 {
		return nil, missingField("package_vetting_requirements")
	}
	if err := n.checkNewParty("", q.SynchronizerID, ""); err != nil {
		return nil, err
	}
	references := []map[string]string{}
	for _, requirement := range q.Requirements {
		for _, name := range requirement.Parties {
			if !n.knowsParty(name) {
				return nil, nodeRefusal("PARTY_NOT_FOUND", "Party %q was not found", name)
			}
		}
		id, version, ok := n.packageNamed(requirement.Name)
		if !ok {
			return nil, unknownTemplate("PACKAGE_NAMES_NOT_FOUND", "Package name", requirement.Name)
		}
		references = append(references, map[string]string{"packageId": id, "packageName": requirement.Name, "packageVersion": version})
	}
	if q.SynchronizerID == "" {
		q.SynchronizerID = n.view.Names.Synchronizers[0]
	}
	return map[string]any{"packageReferences": references, "synchronizerId": q.SynchronizerID}, nil
}

// packageNamed returns the id and the version of the package in use.
func (n *partyServer) packageNamed(name string) (id, version string, ok bool) {
	n.ledger.Mu.Lock()
	v := n.ledger.Executor.Tx.Version()
	n.ledger.Mu.Unlock()
	for i, t := range model.Templates {
		if t.Pkg.Name != name {
			continue
		}
		if t.Pkg.OneVersion {
			v = 0
		}
		return n.view.Names.TemplateIDs[i][v][:model.PackageIDLength], "0.1." + strconv.Itoa(int(v)), true
	}
	return "", "", false
}

// knownPackage is a version of a package of the network, which every node has and vets.
type knownPackage struct {
	ID      string `json:"packageId"`
	Name    string `json:"packageName,omitempty"`
	Version string `json:"packageVersion,omitempty"`
}

// knownPackages are all of them, by id.
func (n *partyServer) knownPackages() []knownPackage {
	var list []knownPackage
	for i, t := range model.Templates {
		for v, id := range n.view.Names.TemplateIDs[i] {
			if v == 0 || !t.Pkg.OneVersion {
				list = append(list, knownPackage{id[:model.PackageIDLength], t.Pkg.Name, "0.1." + strconv.Itoa(v)})
			}
		}
	}
	slices.SortFunc(list, func(a, b knownPackage) int { return strings.Compare(a.ID, b.ID) })
	return slices.Compact(list)
}

func (n *partyServer) listPackages(*http.Request) (any, error) {
	ids := []string{}
	for _, p := range n.knownPackages() {
		ids = append(ids, p.ID)
	}
	return map[string]any{"packageIds": append(ids, n.archives.ids()...)}, nil
}

func (n *partyServer) packageStatus(r *http.Request) (any, error) {
	status := "PACKAGE_STATUS_UNSPECIFIED"
	id := r.PathValue("package")
	if n.archives.get(id) != nil || slices.ContainsFunc(n.knownPackages(), func(p knownPackage) bool { return p.ID == id }) {
		status = "PACKAGE_STATUS_REGISTERED"
	}
	return map[string]string{"packageStatus": status}, nil
}

// asks reports whether a filter names something; an empty one names everything.
func asks(names []string, name string) bool { return len(names) == 0 || slices.Contains(names, name) }
