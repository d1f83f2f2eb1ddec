package ledger

import (
	"context"
	"sync"

	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// knownNames are the templates and interfaces that filters may name: those of the stream and
// those of the catalogue.
type knownNames struct {
	source  Source
	catalog *values.Catalog

	mu  sync.Mutex
	end int64 // of the stream when they were looked at, -1 at first
	// count is how many templates of the stream names has, fingerprint that of the catalogue.
	count       int
	fingerprint uint64
	names       *view.Known
}

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
	if k.names == nil || len(list) != k.count || fingerprint != k.fingerprint {
		// Another one, as the one before is in use.
		k.names = view.NewKnown(k.catalog)
		for _, t := range list {
			if t.InterfaceID == "" {
				k.names.AddTemplate(t.PackageName, t.TemplateID)
			} else {
				k.names.AddImplementation(t.PackageName, t.TemplateID, t.InterfaceID)
			}
		}
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
