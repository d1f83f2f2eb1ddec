package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/ledgerlake/ledgerlake/bench/lab"
	"github.com/ledgerlake/ledgerlake/export"
	networklayout "github.com/ledgerlake/ledgerlake/export/network"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// maxShareOfNetwork is the most that the store may take of the network's own layout.
const maxShareOfNetwork = 0.75

// measureSize compares the tables on disk with the network's own bulk objects of the
// same history.
func measureSize(ctx context.Context, l *lab.Lab, s lab.Section) error {
	lake, err := l.Ingested(ctx)
	if err != nil {
		return err
	}
	layout, err := networkLayout(ctx, l, lake.Tables["updates"].Rows)
	if err != nil {
		return err
	}
	all := addTables(s, lake.Tables)
	core := float64(lake.Tables["updates"].Bytes + lake.Tables["events"].Bytes + lake.Tables["imports"].Bytes)
	s.Add("tables updates, events and imports", core/lab.Megabyte, "MB")
	s.Add("all tables", all/lab.Megabyte, "MB")
	one, acs, everything := layout.protobuf.Updates.ZstdBytes, layout.protobuf.ACS.ZstdBytes, layout.bytes()
	s.Add("network, updates in one encoding", float64(one)/lab.Megabyte, "MB")
	s.Add("network, updates and daily ACS in one encoding", float64(one+acs)/lab.Megabyte, "MB")
	s.Add("network, updates and daily ACS in both encodings", float64(everything)/lab.Megabyte, "MB")
	// Judged is all that either side keeps.
	s.Add("updates, events and imports / network, updates in one encoding", core/float64(one), "")
	s.Add("updates, events and imports / network, updates and daily ACS in one encoding", core/float64(one+acs), "")
	s.Add("updates, events and imports / network, updates and daily ACS in both encodings", core/float64(everything), "")
	s.Add("all tables / network, updates in one encoding", all/float64(one), "")
	s.Add("all tables / network, updates and daily ACS in one encoding", all/float64(one+acs), "")
	s.AtMost(maxShareOfNetwork, "all tables / network, updates and daily ACS in both encodings", all/float64(everything), "")
	return nil
}

// addTables adds the size of each table and returns the sum in bytes.
func addTables(s lab.Section, tables map[string]lab.TableFacts) float64 {
	all := 0.0
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		t := tables[name]
		s.Add(fmt.Sprintf("table %s, %d rows in %d parts", name, t.Rows, t.Parts), float64(t.Bytes)/lab.Megabyte, "MB")
		all += float64(t.Bytes)
	}
	return all
}

// layoutSizes are the sizes of the network's bulk objects in each encoding.
type layoutSizes struct{ protobuf, compact networklayout.Sizes }

// bytes is the size of everything that the network publishes.
func (l layoutSizes) bytes() int64 {
	return l.protobuf.Updates.ZstdBytes + l.protobuf.ACS.ZstdBytes + l.compact.Updates.ZstdBytes + l.compact.ACS.ZstdBytes
}

// networkLayout measures the network's layout of what is in the lake, so many updates.
func networkLayout(ctx context.Context, l *lab.Lab, updates uint64) (sizes layoutSizes, err error) {
	s, err := lab.OpenEngine(ctx, l.LakeDir())
	if err != nil {
		return sizes, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	stored := sealed{history.NewReader(s.DB, schemas.ScanStream)}
	l.Say("writing the network's layout in protobuf_json")
	if sizes.protobuf, err = layoutOf(ctx, s.DB, stored, stored, schemas.ProtobufJSON); err != nil {
		return sizes, err
	}
	if got := uint64(sizes.protobuf.Updates.Rows); got != updates {
		return sizes, fmt.Errorf("the network's layout has %d updates, the store %d", got, updates)
	}
	l.Say("writing the network's layout in compact_json")
	catalog, err := networkCatalog()
	if err != nil {
		return sizes, err
	}
	sizes.compact, err = layoutOf(ctx, s.DB, stored, &compacted{Source: stored, catalog: catalog}, schemas.CompactJSON)
	return sizes, err
}

// noObjects is the bucket of an exporter that only measures and so never uses it.
type noObjects struct{ export.Objects }

func layoutOf(ctx context.Context, db *store.DB, held published.History, source export.Source, encoding schemas.Encoding) (networklayout.Sizes, error) {
	catalog, err := published.New(published.Config{Tables: published.InStore(db, schemas.ScanStream), History: held})
	if err != nil {
		return networklayout.Sizes{}, err
	}
	exporter, err := export.New(export.Config{Source: source, Catalog: catalog, Objects: noObjects{}, Log: lab.NewLogger()})
	if err != nil {
		return networklayout.Sizes{}, err
	}
	return exporter.Network().Measure(ctx, encoding)
}

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
