package analytics

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/stored_labels.sql
var storedLabels string

// expectedLabel is what a row of table labels should be.
type expectedLabel struct {
	sum   uint64
	of    string // in words
	found bool
}

// checkLabels labels the shapes of history again and compares each with its row. Rows that no event of history needs do
// no harm, and neither do those of another catalogue: the process that follows writes them again.
func (a *Audit) checkLabels(ctx context.Context, lines []store.BatchRow) error {
	expected := make(map[uint64]*expectedLabel) // by key
	fresh := labels{db: a.db, stream: a.stream, catalog: a.catalog, known: make(map[uint64]bool)}
	err := journal.EachRange(lines, a.mark, func(after, through schemas.Position) error {
		for _, p := range rows.Split(a.stream, after, through) {
			if !p.History {
				continue
			}
			list, err := fresh.newShapes(ctx, &p)
			if err != nil {
				return fmt.Errorf("reading the shapes of events after %s: %w", p.After, err)
			}
			for i := range list {
				label(a.catalog, &list[i])
				expected[keyOf(&list[i])] = &expectedLabel{sum: sumOfLabel(&list[i]), of: describeLabel(&list[i])}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := a.compareLabels(ctx, expected); err != nil {
		return err
	}
	for _, e := range expected {
		if !e.found {
			a.found(Difference{What: "a row of labels", Expected: e.of, Found: "no such row"})
		}
	}
	return nil
}

// compareLabels compares the stored rows with those expected.
func (a *Audit) compareLabels(ctx context.Context, expected map[uint64]*expectedLabel) error {
	block := store.NewRecords[store.Label]()
	fingerprint := a.catalog.Fingerprint()
	err := a.db.Select(ctx, storedLabels, store.Params{"stream": store.Text(a.stream)}, block, func() error {
		for _, row := range block.AppendTo(nil) {
			e := expected[keyOf(&row)]
			if a.looked["labels"]++; e == nil {
				continue
			}
			if e.found = true; row.Catalog == fingerprint && sumOfLabel(&row) != e.sum {
				a.found(Difference{What: "a row of labels", Expected: e.of, Found: describeLabel(&row)})
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading table labels: %w", err)
	}
	return nil
}

func keyOf(l *store.Label) uint64 {
	return labelKey{l.PackageName, l.TemplateID, l.InterfaceID, l.Choice, l.Number, l.Constructors}.hash()
}

// sumOfLabel is of all of a row but when it was written.
func sumOfLabel(l *store.Label) uint64 {
	return xxh3.HashString(fmt.Sprintf("%q %v %q %v %q %v %q %v %v %v", l.Shape, l.Structure, l.Argument, l.ArgumentHoles, l.Result, l.ResultHoles,
		l.ObjectsShape, l.ObjectsStructure, l.ObjectsArgumentHoles, l.ObjectsResultHoles))
}

// describeLabel says what a row is of, with a part of what it has.
func describeLabel(l *store.Label) string {
	of := schemas.TemplateName(l.PackageName, l.TemplateID)
	if l.Choice != "" {
		of += "/" + l.Choice
	}
	return fmt.Sprintf("labels of shape %s of %s, argument %.80q, result %.80q", strconv.FormatUint(l.Number, 10), of, l.Argument, l.Result)
}
