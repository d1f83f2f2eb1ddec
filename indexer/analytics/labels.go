package analytics

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

var (
	//go:embed sql/shapes_in_range.sql
	shapesInRange string
	//go:embed sql/constructors_in_range.sql
	constructorsInRange string
	//go:embed sql/labels.sql
	selectLabels string
	//go:embed sql/label_keys.sql
	selectLabelKeys string
)

// labels keeps table labels: what each shape of the events of a stream becomes with the labels of a catalogue.
// There are few shapes. Rows follow from shapes and the catalogue alone, so those of events that were
// withdrawn do no harm, and a range may be looked at again.
type labels struct {
	db      *store.DB
	stream  string
	catalog *values.Catalog

	known map[uint64]bool // keys of rows, nil until they are read
	of    uint64          // fingerprint of the catalogue that all rows are of
}

// labelKey is what a row of table labels is for.
type labelKey struct {
	PackageName  string   `column:"package_name,low"`
	TemplateID   string   `column:"template_id,low"`
	InterfaceID  string   `column:"interface_id,low"`
	Choice       string   `column:"choice,low"`
	Number       uint64   `column:"shape"`
	Constructors []string `column:"constructors"`
}

func (k labelKey) hash() uint64 {
	return xxh3.HashString(strings.Join(append([]string{k.PackageName, k.TemplateID, k.InterfaceID, k.Choice, strconv.FormatUint(k.Number, 10)}, k.Constructors...), "\x00"))
}

// maxKnown bounds the rows that are remembered. One that is not is written again, which does no harm.
const maxKnown = 200_000

// storedShape is a shape of events, with the constructors of one of them on which its labels depend.
type storedShape struct {
	PackageName  string   `column:"package_name,low"`
	TemplateID   string   `column:"template_id,low"`
	InterfaceID  string   `column:"interface_id,low"`
	Choice       string   `column:"choice,low"`
	Shape        string   `column:"body_shape,low"`
	Number       uint64   `column:"shape"`
	Constructors []string `column:"constructors"`
}

// prepare brings the rows up to the catalogue as it is now, and labels what is stored up to a position if
// there are none: the store is of an earlier version.
func (l *labels) prepare(ctx context.Context, through schemas.Position) error {
	if err := l.load(ctx); err != nil {
		return err
	}
	if len(l.known) == 0 && through != schemas.Start {
		return l.add(ctx, schemas.Start, through)
	}
	if fingerprint := l.catalog.Fingerprint(); fingerprint != l.of {
		if err := l.again(ctx, fingerprint); err != nil {
			return err
		}
		l.of = fingerprint
	}
	return nil
}

// load reads which shapes have rows, unless that is known.
func (l *labels) load(ctx context.Context) error {
	if l.known != nil {
		return nil
	}
	keys, err := store.SelectAll(ctx, l.db, selectLabelKeys, store.Params{"stream": store.Text(l.stream)}, store.NewRecords[labelKey]())
	if err != nil {
		return fmt.Errorf("reading which shapes have labels: %w", err)
	}
	l.known = make(map[uint64]bool, len(keys))
	for _, k := range keys {
		l.remember(k)
	}
	return nil
}

// remember notes that a key has a row, and reports whether that was not known.
func (l *labels) remember(k labelKey) (unknown bool) {
	key := k.hash()
	if l.known[key] {
		return false
	}
	if len(l.known) >= maxKnown {
		clear(l.known)
	}
	l.known[key] = true
	return true
}

// again labels the rows again that are of another catalogue, some at a time.
func (l *labels) again(ctx context.Context, fingerprint uint64) error {
	params := store.Params{"stream": store.Text(l.stream), "catalog": fmt.Sprint(fingerprint)}
	for {
		list, err := store.SelectAll(ctx, l.db, selectLabels, params, store.NewRecords[store.Label]())
		if err != nil {
			return fmt.Errorf("reading the labels of another catalogue: %w", err)
		}
		if len(list) == 0 {
			return nil
		}
		if err := l.write(ctx, list); err != nil {
			return err
		}
	}
}

// add labels the shapes of a range that are new, in one insert: all or none are stored.
func (l *labels) add(ctx context.Context, after, through schemas.Position) (err error) {
	defer func() {
		if err != nil {
			l.known = nil // it is unknown what is stored
		}
	}()
	if err := l.load(ctx); err != nil {
		return err
	}
	var list []store.Label
	for _, p := range rows.Split(l.stream, after, through) {
		if !p.History {
			continue
		}
		found, err := l.newShapes(ctx, &p)
		if err != nil {
			return fmt.Errorf("reading the shapes of events after %s: %w", p.After, err)
		}
		list = append(list, found...)
	}
	return l.write(ctx, list)
}

// newShapes returns the rows for the shapes of a part that have none.
func (l *labels) newShapes(ctx context.Context, p *rows.Part) (list []store.Label, err error) {
	params := p.EventParams()
	shapes, err := store.SelectAll(ctx, l.db, shapesInRange, params, store.NewRecords[storedShape]())
	if err != nil {
		return nil, err
	}
	var structured []uint64 // of which each combination of constructors has a row
	var places []string
	for i := range shapes {
		if l.known[shapes[i].key().hash()] {
			continue
		}
		at := structure(shapes[i].Shape)
		if len(at) == 0 {
			list = l.appendNew(list, &shapes[i])
			continue
		}
		var scalars []string // as the engine counts them
		for _, p := range at {
			scalars = append(scalars, strconv.Itoa(p.Scalar+1))
		}
		structured, places = append(structured, shapes[i].Number), append(places, strings.Join(scalars, ","))
	}
	if len(structured) == 0 {
		return list, nil
	}
	params["shapes"], params["places"] = store.Numbers(structured), store.Texts(places)
	if shapes, err = store.SelectAll(ctx, l.db, constructorsInRange, params, store.NewRecords[storedShape]()); err != nil {
		return nil, err
	}
	for i := range shapes {
		list = l.appendNew(list, &shapes[i])
	}
	return list, nil
}

func (s *storedShape) key() labelKey {
	return labelKey{s.PackageName, s.TemplateID, s.InterfaceID, s.Choice, s.Number, s.Constructors}
}

// appendNew adds a row for a shape unless it has one.
func (l *labels) appendNew(list []store.Label, s *storedShape) []store.Label {
	if !l.remember(s.key()) {
		return list
	}
	row := store.Label{
		Stream: l.stream, PackageName: s.PackageName, TemplateID: s.TemplateID, InterfaceID: s.InterfaceID, Choice: s.Choice,
		Number: s.Number, Shape: s.Shape, Constructors: s.Constructors,
	}
	for _, p := range structure(s.Shape) {
		row.Structure, row.ObjectsStructure = append(row.Structure, p.Held), append(row.ObjectsStructure, p.Object)
	}
	return append(list, row)
}

// write labels rows and inserts them.
func (l *labels) write(ctx context.Context, list []store.Label) error {
	if len(list) == 0 {
		return nil
	}
	now, block := schemas.Micros(time.Now().UnixMicro()), store.NewRecords[store.Label]()
	for i := range list {
		label(l.catalog, &list[i])
		list[i].LabelledAt = now
		block.Append(list[i])
	}
	if err := l.db.Insert(ctx, "labels", "", block); err != nil {
		return fmt.Errorf("writing the labels of %d shapes: %w", len(list), err)
	}
	return nil
}
