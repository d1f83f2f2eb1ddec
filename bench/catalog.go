package main

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/ledgerlake/ledgerlake/schemas/values"
)

//go:embed catalog/*.yaml
var catalogFiles embed.FS

// networkCatalog knows all templates of the simulated network, those of its third-party
// app as well.
func networkCatalog() (*values.Catalog, error) {
	files, err := fs.Sub(catalogFiles, "catalog")
	if err != nil {
		return nil, fmt.Errorf("opening the catalogue of the simulated network: %w", err)
	}
	return values.Load(files)
}
