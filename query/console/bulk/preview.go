package bulk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Limits of a preview.
const (
	shownRows = 20
	// blockBytes are fetched at once, and at most so many blocks for a preview.
	blockBytes = 128 << 10
	mostBlocks = 160
	// previewBytes is the memory that a preview reserves: its blocks, and what they are unpacked to.
	previewBytes = 2*mostBlocks*blockBytes + 8<<20
	// shownValue is how much of a value is shown.
	shownValue = 160
)

// errTooLarge says that the first rows take more than a preview may read.
var errTooLarge = errors.New("the first rows are too large for a preview")

// previewView is the schema and the first rows of an object.
type previewView struct {
	segment schemas.SegmentRef
	table   tableView
	part    published.Part
	columns []columnView
	rows    [][]string
	problem string
}

// columnView is a column of an object.
type columnView struct{ name, kind string }

// preview shows what is in the first object of a table.
func (b *Bulk) preview(ctx context.Context, v *page.View) (page.Page, error) {
	ref, err := b.refAt(v)
	if err != nil {
		return page.Page{}, err
	}
	name, err := v.Path("table")
	if err != nil {
		return page.Page{}, err
	}
	row, tables, err := b.tablesOf(ctx, ref)
	if err != nil {
		return page.Page{}, err
	}
	table, ok := tableAt(tables, name)
	if !ok || row.State != published.Published && row.State != published.Staged {
		return page.Page{}, page.Missing("This segment has no objects of such a table.")
	}
	if ctx, err = v.Reserve(ctx, previewBytes); err != nil {
		return page.Page{}, err
	}
	view := previewView{segment: ref, table: table, part: table.Parts[0]}
	view.columns, view.rows, err = readFirst(&remote{ctx: ctx, objects: b.cfg.Objects, part: view.part})
	if errors.Is(err, errTooLarge) {
		view.problem = "The first rows are too large to be shown here: download the object."
	} else if err != nil {
		return page.Page{}, &query.Error{Code: query.Unavailable, Msg: "The object could not be read from the bucket.", Err: fmt.Errorf("previewing %s: %w", view.part.Key, err)}
	}
	return page.Page{Title: refName(ref) + " " + name, Section: page.Bulk, Body: preview(v, view)}, nil
}

// readFirst reads the schema and the first rows of an object.
func readFirst(r *remote) (columns []columnView, rows [][]string, err error) {
	file, err := parquet.OpenFile(r, r.part.Bytes, parquet.SkipMagicBytes(true), parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true), parquet.ReadBufferSize(blockBytes))
	if err != nil {
		return nil, nil, err
	}
	kinds := make([]kindOf, len(file.Schema().Columns()))
	for i, path := range file.Schema().Columns() {
		leaf, _ := file.Schema().Lookup(path...)
		kinds[i] = kindOfLeaf(leaf)
		columns = append(columns, columnView{name: path[0], kind: kinds[i].name})
	}
	if len(file.RowGroups()) == 0 {
		return columns, nil, nil
	}
	from := file.RowGroups()[0].Rows()
	defer func() { err = errors.Join(err, from.Close()) }()
	buffer := make([]parquet.Row, shownRows)
	n, err := from.ReadRows(buffer)
	if err != nil && !errors.Is(err, io.EOF) {
		return columns, nil, err
	}
	for _, row := range buffer[:n] {
		rows = append(rows, textsOf(row, kinds))
	}
	return columns, rows, nil
}

// kindOf says how the values of a column are written.
type kindOf struct {
	name          string
	instant, list bool
}

func kindOfLeaf(leaf parquet.LeafColumn) kindOf {
	kind := kindOf{name: leaf.Node.Type().String(), list: leaf.MaxRepetitionLevel > 0}
	if logical := leaf.Node.Type().LogicalType(); logical != nil {
		_, kind.instant = logical.Value.(*format.TimestampType) // always of microseconds
	}
	if kind.list {
		kind.name = "list of " + kind.name
	}
	if leaf.MaxDefinitionLevel > 0 && !kind.list {
		kind.name += ", may be null"
	}
	return kind
}

// textsOf are the values of a row by column.
func textsOf(row parquet.Row, kinds []kindOf) []string {
	texts := make([]string, len(kinds))
	row.Range(func(i int, values []parquet.Value) bool {
		var list []string
		for _, value := range values {
			if !value.IsNull() {
				list = append(list, textOf(value, kinds[i]))
			}
		}
		texts[i] = shortened(strings.Join(list, ", "))
		return true
	})
	return texts
}

func textOf(value parquet.Value, kind kindOf) string {
	if kind.instant {
		return schemas.Micros(value.Int64()).String()
	}
	if value.Kind() == parquet.ByteArray {
		return string(value.ByteArray())
	}
	return value.String()
}

func shortened(text string) string {
	runes := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	if len(runes) <= shownValue {
		return string(runes)
	}
	return string(runes[:shownValue]) + "…"
}

// remote is an object that is read in blocks, by ranges. It serves one request and keeps its context, since io.ReaderAt has
// no room for one.
type remote struct {
	ctx     context.Context
	objects Objects
	part    published.Part
	blocks  map[int64][]byte
}

// ReadAt implements io.ReaderAt.
func (r *remote) ReadAt(dst []byte, off int64) (n int, err error) {
	for n < len(dst) {
		at := off + int64(n)
		if at >= r.part.Bytes {
			return n, io.EOF
		}
		block, err := r.block(at / blockBytes)
		if err != nil {
			return n, err
		}
		n += copy(dst[n:], block[at%blockBytes:])
	}
	return n, nil
}

func (r *remote) block(number int64) (data []byte, err error) {
	if b := r.blocks[number]; b != nil {
		return b, nil
	}
	if len(r.blocks) == mostBlocks {
		return nil, errTooLarge
	}
	from := number * blockBytes
	to := min(from+blockBytes, r.part.Bytes)
	stream, err := r.objects.Get(r.ctx, r.part.Key, from, to)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	data = make([]byte, to-from)
	if _, err := io.ReadFull(stream, data); err != nil {
		return nil, err
	}
	if r.blocks == nil {
		r.blocks = make(map[int64][]byte)
	}
	r.blocks[number] = data
	return data, nil
}
