package ledger

import (
	"context"
	"sync"
	"time"

	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// knownNames are the templates and interfaces that filters may name: those of the stream and
// those of the catalogue.
type knownNames struct {
	source  Source
	catalog *values.Catalog
	now     func() time.Time

	mu  sync.Mutex
	end int64 // of the stream when they were looked at, -1 at first
	// count is how many templates of the stream names has, fingerprint that of the catalogue.
	count       int
	fingerprint uint64
	names       *view.Known
	// unsure is of how many templates neither the catalogue nor a view says what they implement, and
	// looked is when a contract of each was looked at.
	unsure int
	looked time.Time
}

const (
	// lookEvery is how often contracts of templates that are in no catalogue are looked at for views, and
	// maxUnsure of how many templates at most.
	lookEvery = time.Minute
	maxUnsure = 100
)

// at returns the names up to an end of the stream, as far as it is known. Templates only
// ever become more.
func (k *knownNames) at(ctx context.Context, end int64) (*view.Known, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	fingerprint := k.catalog.Fingerprint()
	if k.names != nil && end <= k.end && fingerprint == k.fingerprint {
		return k.names, nil
	}
	list, err := k.source.KnownTemplates(ctx)
	if err != nil {
		return nil, err
	}
	again := k.unsure > 0 && k.now().Sub(k.looked) >= lookEvery
	if k.names == nil || len(list) != k.count || fingerprint != k.fingerprint || again {
		// Another one, as the one before is in use.
		names := view.NewKnown(k.catalog)
		for _, t := range list {
			if t.InterfaceID == "" {
				names.AddTemplate(t.PackageName, t.TemplateID)
			} else {
				names.AddImplementation(t.PackageName, t.TemplateID, t.InterfaceID)
			}
		}
		if err := k.lookAtViews(ctx, k.outsideCatalogue(list), names); err != nil {
			return nil, err
		}
		k.names = names
	}
	k.end, k.count, k.fingerprint = end, len(list), fingerprint
	return k.names, nil
}

// knownNames returns the names that filters may have now.
func (n *node) knownNames(ctx context.Context) (*view.Known, error) {
	end, err := n.ends.current(ctx)
	if err != nil {
		return nil, err
	}
	return n.known.at(ctx, end)
}

// outsideCatalogue are the templates of the stream that are in no catalogue.
func (k *knownNames) outsideCatalogue(list []nodehistory.Template) (unsure []nodehistory.Template) {
	for _, t := range list {
		if t.InterfaceID == "" && k.catalog.Template(t.PackageName, t.TemplateID) == nil && len(unsure) < maxUnsure {
			unsure = append(unsure, t)
		}
	}
	return unsure
}

// lookAtViews learns which interfaces templates implement from the views that the node gave of their
// contracts. One that has none may have them later: interfaces are asked for when the node knows them.
func (k *knownNames) lookAtViews(ctx context.Context, templates []nodehistory.Template, names *view.Known) error {
	if len(templates) == 0 {
		k.unsure = 0
		return nil
	}
	end, err := k.source.LedgerActiveEnd(ctx)
	if err != nil {
		return err
	}
	unsure := 0
	for _, t := range templates {
		page, err := k.source.LedgerActive(ctx, nodehistory.ActiveQuery{Offset: end, Limit: 1,
			Selection: nodehistory.EventSelection{Entries: []nodehistory.SelectionEntry{{Templates: []string{t.TemplateID}}}}})
		if err != nil {
			return err
		}
		ids := viewsOf(page, t.TemplateID)
		if len(ids) == 0 {
			unsure++
		}
		for _, id := range ids {
			names.AddImplementation(t.PackageName, t.TemplateID, id)
		}
	}
	k.unsure, k.looked = unsure, k.now()
	return nil
}

// viewsOf are the interfaces of which the contracts of a template have views in a page.
func viewsOf(page nodehistory.ActivePage, templateID string) (ids []string) {
	for i := range page.Contracts {
		if e := &page.Contracts[i].Event; e.TemplateID == templateID && e.Local != nil {
			for _, given := range jsonscan.Value(e.Local.Extras).At("interfaceViews").Elements() {
				ids = append(ids, given.At("interfaceId").Text())
			}
		}
	}
	return ids
}
