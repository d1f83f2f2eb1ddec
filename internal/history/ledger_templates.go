package history

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// LedgerTemplate is a template that a node's stream has events of, and an interface of
// which a choice was exercised on it, "" for the template alone.
type LedgerTemplate struct {
	PackageName string
	// TemplateID and InterfaceID are "<package id>:Module:Entity".
	TemplateID, InterfaceID string
}

// ledgerTemplates are the templates of a part of a stream, which only ever become more:
// they are read once, and then those of what came since.
type ledgerTemplates struct {
	mu sync.Mutex
	// through is the end of that part, 0 before the first reading.
	through int64
	list    []LedgerTemplate
	known   map[LedgerTemplate]bool
	// ids are the template ids by schemas.TemplateName, names the reverse.
	ids   map[string][]string
	names map[string]string
}

// KnownTemplates returns the templates of the stream up to its watermark. Calls after one
// another give the same list with others behind it.
func (r *Reader) KnownTemplates(ctx context.Context) ([]LedgerTemplate, error) {
	end, err := r.LedgerEnd(ctx)
	if err != nil {
		return nil, err
	}
	t := &r.templates
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := r.learnTemplates(ctx, t, end); err != nil {
		return nil, err
	}
	return slices.Clip(t.list), nil
}

// templateIDs returns the ids under which a part of the stream that ends at through has
// some templates, in all versions of their packages: a choice on a contract may be one of
// another version than its creation.
func (r *Reader) templateIDs(ctx context.Context, templates []string, through int64) (ids []string, err error) {
	t := &r.templates
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := r.learnTemplates(ctx, t, through); err != nil {
		return nil, err
	}
	for _, template := range templates {
		if name, ok := t.names[template]; ok {
			template = name
		}
		ids = append(ids, t.ids[template]...)
	}
	return ids, nil
}

// learnTemplates adds what came up to an offset; the caller holds the lock.
func (r *Reader) learnTemplates(ctx context.Context, t *ledgerTemplates, through int64) error {
	if through <= t.through {
		return nil
	}
	var rows []store.LedgerTemplate
	block := store.NewLedgerTemplates()
	read := func(query string, params store.Params) error {
		return r.db.Select(ctx, query, params, block, func() error {
			rows = block.AppendTo(rows)
			return nil
		})
	}
	if t.through == 0 {
		if err := read(ledgerImportedTemplatesQuery, store.Params{"stream": store.Text(r.stream)}); err != nil {
			return fmt.Errorf("reading the templates that %s began with: %w", r.stream, err)
		}
	}
	params := store.Params{"stream": store.Text(r.stream), "through": store.Int(through)}
	if err := read(ledgerTemplatesQuery, params); err != nil {
		return fmt.Errorf("reading the templates of %s up to offset %d: %w", r.stream, through, err)
	}
	for _, row := range rows {
		t.add(LedgerTemplate(row))
	}
	t.through = through
	return nil
}

func (t *ledgerTemplates) add(l LedgerTemplate) {
	if t.known == nil {
		t.known, t.ids, t.names = make(map[LedgerTemplate]bool), make(map[string][]string), make(map[string]string)
	}
	if t.known[l] {
		return
	}
	t.known[l] = true
	t.list = append(t.list, l)
	if _, ok := t.names[l.TemplateID]; ok {
		return
	}
	name := schemas.TemplateName(l.PackageName, l.TemplateID)
	t.names[l.TemplateID] = name
	t.ids[name] = append(t.ids[name], l.TemplateID)
}

// offsets are the parameters of a query between two offsets.
func (r *Reader) offsets(after, through int64) store.Params {
	return store.Params{"stream": store.Text(r.stream), "after": store.Int(after), "through": store.Int(through)}
}
