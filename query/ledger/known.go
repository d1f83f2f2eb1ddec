package ledger

import (
	"context"

	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// knownNames are the templates and interfaces that filters may name.
type knownNames struct {
	source  Source
	catalog *values.Catalog
}

func (k *knownNames) current(context.Context) (*view.Known, error) {
	return view.NewKnown(k.catalog), nil
}
