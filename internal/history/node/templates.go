package node

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Template is a template that a node's stream has events of, and an interface of
// which a choice was exercised on it, "" for the template alone.
type Template struct {
	PackageName string
	// TemplateID and InterfaceID are "<package id>:Module:Entity".
	TemplateID, InterfaceID string
}

// templates are the templates of a part of a stream, which only ever become more:
// they are read once, and then those of what came since.
type templates struct {
	db     *store.DB
	stream string

	mu sync.Mutex
	// through is the end of that part, 0 before the first reading.
	through int64
	list    []Template
	known   map[Template]bool
	// ids are the template ids by schemas.TemplateName, names the reverse.
	ids   map[string][]string
	names map[string]string
}

// all returns the templates of the part of the stream that ends at through.
func (t *templates) all(ctx context.Context, through int64) ([]Template, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.learn(ctx, through); err != nil {
		return nil, err
	}
	return slices.Clip(t.list), nil
}

// idsOf returns the ids under which a part of the stream that ends at through has
// some templates, in all versions of their packages: a choice on a contract may be one of
// another version than its creation.
func (t *templates) idsOf(ctx context.Context, names []string, through int64) (ids []string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.learn(ctx, through); err != nil {
		return nil, err
	}
	for _, template := range names {
		if name, ok := t.names[template]; ok {
			template = name
		}
		ids = append(ids, t.ids[template]...)
	}
	return ids, nil
}

// learn adds what came up to an offset; the caller holds the lock.
func (t *templates) learn(ctx context.Context, through int64) error {
	if through <= t.through {
		return nil
	}
	read := func(query string, params store.Params) ([]store.LedgerTemplate, error) {
		params["stream"] = store.Text(t.stream)
		return store.SelectAll(ctx, t.db, query, params, store.NewRecords[store.LedgerTemplate]())
	}
	var began []store.LedgerTemplate
	if t.through == 0 {
		var err error
		if began, err = read(importedTemplatesQuery, store.Params{}); err != nil {
			return fmt.Errorf("reading the templates that %s began with: %w", t.stream, err)
		}
	}
	came, err := read(templatesQuery, store.Params{"through": store.Int(through)})
	if err != nil {
		return fmt.Errorf("reading the templates of %s up to offset %d: %w", t.stream, through, err)
	}
	for _, row := range append(began, came...) {
		t.add(Template(row))
	}
	t.through = through
	return nil
}

func (t *templates) add(l Template) {
	if t.known == nil {
		t.known, t.ids, t.names = make(map[Template]bool), make(map[string][]string), make(map[string]string)
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
