package app

import (
	"fmt"
	"os"

	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// catalog returns the templates that are known: the network's own and, with --catalog,
// those of the operator's files.
func (a *app) catalog() (*values.Catalog, error) {
	dir := a.cfg.Catalog
	if dir == "" {
		return values.Default(), nil
	}
	// A folder that is missing and one without files look alike to what reads them.
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("--catalog: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("--catalog %s is not a folder: name the one that has the files", dir)
	}
	catalog, err := values.Load(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("--catalog %s: %w", dir, err)
	}
	return catalog, nil
}
