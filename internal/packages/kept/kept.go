// Package kept keeps compiled packages in table packages, each once, describes them, and has a
// catalogue learn them.
package kept

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/packages"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/packages.sql
	selectPackages string
	//go:embed sql/state.sql
	selectState string
	//go:embed sql/drop.sql
	deletePackages string
)

// row is a row of table packages.
type row struct {
	// ID is the SHA-256 of Payload in hex.
	ID      string `column:"package_id"`
	Name    string `column:"name,low"`
	Version string `column:"version"`
	// LF is the version of the compiled language.
	LF string `column:"lf,low"`
	// Upgrades is the package that this one is an upgrade of, mostly "".
	Upgrades string `column:"upgraded_id"`
	Payload  []byte `column:"payload"`
	// Source is the file or the node that it came from.
	Source string         `column:"source,low"`
	SeenAt schemas.Micros `column:"seen_at"`
}

// Package is a package that is kept.
type Package struct {
	*packages.Package
	// Source is the file or the node that it came from, and SeenAt when.
	Source string
	SeenAt schemas.Micros
}

// Packages are those of a store.
type Packages struct{ db *store.DB }

// New returns the packages of a store.
func New(db *store.DB) *Packages { return &Packages{db} }

// List returns all packages by name, version and id. A row whose payload is damaged is an error that
// names it.
func (s *Packages) List(ctx context.Context) ([]Package, error) {
	rows, err := store.SelectAll(ctx, s.db, selectPackages, nil, store.NewRecords[row]())
	if err != nil {
		return nil, fmt.Errorf("reading the packages of the store: %w", err)
	}
	list := make([]Package, len(rows))
	for i, r := range rows {
		p, err := packages.ReadPayload(r.Payload, r.ID)
		if err != nil {
			return nil, fmt.Errorf("reading the packages of the store: %w", err)
		}
		list[i] = Package{p, r.Source, r.SeenAt}
	}
	return list, nil
}

// keep inserts a package. One row at a time, as payloads may be large.
func (s *Packages) keep(ctx context.Context, p Package) error {
	block := store.NewRecords[row]()
	block.Append(row{p.ID, p.Name, p.Version, p.LF, p.Upgrades, p.Payload, p.Source, p.SeenAt})
	if err := s.db.Insert(ctx, "packages", fmt.Sprintf("%s/%d", p.ID, p.SeenAt), block); err != nil {
		return fmt.Errorf("keeping package %s: %w", p.ID, err)
	}
	return nil
}

// Drop forgets packages that are named by name, name-version, or the beginning of an id, and returns
// them. If a name fits none, none is dropped.
func (s *Packages) Drop(ctx context.Context, names []string) (dropped []Package, err error) {
	list, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, name := range names {
		found, err := named(list, name)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			if !slices.Contains(ids, p.ID) {
				ids, dropped = append(ids, p.ID), append(dropped, p)
			}
		}
	}
	if err := s.db.Change(ctx, "packages", deletePackages, "", store.Params{"ids": store.Texts(ids)}); err != nil {
		return nil, fmt.Errorf("dropping packages: %w", err)
	}
	return dropped, nil
}

// shortestID is how many digits of an id must be given.
const shortestID = 6

// named returns the packages that a name fits, at least one.
func named(list []Package, name string) (found []Package, err error) {
	for _, p := range list {
		if p.Name == name || p.Name+"-"+p.Version == name || len(name) >= shortestID && strings.HasPrefix(p.ID, name) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the store has no package %q: name one by its name, name-version or id, as ledgerlake package list --all has them", name)
	}
	return found, nil
}

func now() schemas.Micros { return schemas.Micros(time.Now().UnixMicro()) }
