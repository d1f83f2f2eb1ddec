// Package inventory reads what there is in a stream: templates with their contracts, choices and typed tables, and the
// packages that they are of. It counts over all of history, so its answers are for those who can wait a moment, or
// remember them.
package inventory

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

var (
	//go:embed sql/templates.sql
	templatesQuery string
	//go:embed sql/choices.sql
	choicesQuery string
	//go:embed sql/packages.sql
	packagesQuery string
	//go:embed sql/kept.sql
	keptQuery string
	//go:embed sql/typed_of.sql
	typedOfQuery string
)

// ErrTooExpensive says that counting takes longer, or more memory, than it may.
var ErrTooExpensive = errors.New("there is too much to count")

// Limits of the engine for a count.
const (
	maxTime   = 5 * time.Second
	maxMemory = 1 << 30
)

// Reader reads the inventory of a stream. It is safe for concurrent use.
type Reader struct {
	db     *store.DB
	stream string
}

// NewReader returns a reader of a stream, usually schemas.ScanStream.
func NewReader(db *store.DB, stream string) *Reader { return &Reader{db, stream} }

// Template is a template with its contracts: those that are live at an instant, and the lifetimes that have ended by
// then, by an archival or because the contract left its synchronizer.
type Template struct {
	// Name is PACKAGE_NAME:Module.Name:Entity.
	Name  string `column:"template,low"`
	Live  int64  `column:"live"`
	Ended int64  `column:"ended"`
}

// Templates returns the templates of which there are contracts in a migration at an instant, or there were before, by
// name. With names it returns only these.
func (r *Reader) Templates(ctx context.Context, migrationID int64, at schemas.Micros, names ...string) ([]Template, error) {
	if len(names) > 0 {
		names = values.Spellings(names...)
	}
	return counted(ctx, r.db, "templates", templatesQuery, store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(migrationID), "at": store.Time(store.Clamp(at)), "templates": store.Texts(names),
	}, store.NewRecords[Template]())
}

// counted runs a query that counts, within limits.
func counted[T any](ctx context.Context, db *store.DB, what, query string, params store.Params, b *store.Records[T]) (list []T, err error) {
	err = db.SelectWithin(ctx, query, params, maxTime, maxMemory, b, func() error {
		list = b.AppendTo(list)
		return nil
	})
	switch {
	case store.IsOverBudget(err):
		return nil, fmt.Errorf("counting %s: %w: %w", what, ErrTooExpensive, err)
	case err != nil:
		return nil, fmt.Errorf("counting %s: %w", what, err)
	}
	return list, nil
}

// Choice is how often one is exercised.
type Choice struct {
	Name string `column:"choice,low"`
	// Interface is that of the choice, "" if it is the template's own.
	Interface string         `column:"interface_id,low"`
	Consuming bool           `column:"consuming"`
	Times     int64          `column:"times"`
	Last      schemas.Micros `column:"last"`
}

// Choices returns which choices were exercised on contracts of a template up to an instant, the most frequent first.
func (r *Reader) Choices(ctx context.Context, at schemas.Micros, template string) ([]Choice, error) {
	params, err := r.upTo(ctx, at)
	if err != nil {
		return nil, err
	}
	packages, entities := names(template)
	for i := range entities { // behind the id of the package
		entities[i] = ":" + entities[i]
	}
	params["packages"], params["entities"] = store.Texts(packages), store.Texts(entities)
	return counted(ctx, r.db, "the choices of "+template, choicesQuery, params, store.NewRecords[Choice]())
}

// names are the packages and entities by which the store may have a template, in both spellings.
func names(template string) (packages, entities []string) {
	for _, spelling := range values.Spellings(template) {
		name, entity, _ := strings.Cut(spelling, ":")
		packages, entities = append(packages, name), append(entities, entity)
	}
	return packages, entities
}

func (r *Reader) upTo(ctx context.Context, at schemas.Micros) (store.Params, error) {
	mark, err := journal.Watermark(ctx, r.db, r.stream)
	if err != nil {
		return nil, err
	}
	return store.Params{
		"stream": store.Text(r.stream), "through_migration": store.Int(mark.MigrationID), "through_time": store.Time(store.Clamp(mark.RecordTime)),
		"through_id": store.Text(mark.UpdateID), "at": store.Time(store.Clamp(at)),
	}, nil
}

// Package is one that templates of events are of.
type Package struct {
	Name string `column:"package_name,low"`
	// ID is the hash of the package.
	ID        string         `column:"package"`
	Events    int64          `column:"events"`
	Templates int64          `column:"templates"`
	First     schemas.Micros `column:"first"`
	Last      schemas.Micros `column:"last"`
}

// Packages returns the packages that history up to an instant has events of, by name and in the order in which they came.
func (r *Reader) Packages(ctx context.Context, at schemas.Micros) ([]Package, error) {
	params, err := r.upTo(ctx, at)
	if err != nil {
		return nil, err
	}
	return counted(ctx, r.db, "packages", packagesQuery, params, store.NewRecords[Package]())
}

// Kept is a compiled package that the store has.
type Kept struct {
	ID      string `column:"package_id"`
	Name    string `column:"name,low"`
	Version string `column:"version"`
	// Language is the version of the compiled language.
	Language string         `column:"lf,low"`
	Source   string         `column:"source,low"`
	SeenAt   schemas.Micros `column:"seen_at"`
}

// Kept returns the compiled packages that the store has, by name and version.
func (r *Reader) Kept(ctx context.Context) ([]Kept, error) {
	list, err := store.SelectAll(ctx, r.db, keptQuery, nil, store.NewRecords[Kept]())
	if err != nil {
		return nil, fmt.Errorf("reading the packages of the store: %w", err)
	}
	return list, nil
}

// Typed names a typed table: of the template's contracts, or of a choice.
type Typed struct {
	Table  string `column:"table_name"`
	Choice string `column:"choice"`
}

// Typed returns the typed tables of a template and of its choices. They may not be filled yet.
func (r *Reader) Typed(ctx context.Context, template string) ([]Typed, error) {
	packages, entities := names(template)
	list, err := store.SelectAll(ctx, r.db, typedOfQuery, store.Params{
		"packages": store.Texts(packages), "entities": store.Texts(entities),
	}, store.NewRecords[Typed]())
	if err != nil {
		return nil, fmt.Errorf("reading the typed tables of %.80q: %w", template, err)
	}
	return list, nil
}
