package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// parquetSearch finds single updates in the Parquet objects of a segment with ranged reads,
// for segments without lookup objects. Bloom filters say in which row group an id may be,
// its column says in which row, and the page index where each column has that row: some
// tens of requests for a hit, and a few for each row group that has to be asked.
type parquetSearch struct {
	objects  Reads
	manifest *published.Manifest
	cost     *LookupCost
}

// update returns the update of an id, or nil.
func (s parquetSearch) update(ctx context.Context, updateID string) (*schemas.Update, error) {
	if s.manifest.Ref().IsImports() {
		return s.imported(ctx, "update_id", updateID)
	}
	var found *schemas.Update
	err := s.rows(ctx, schemas.ParquetUpdates, []condition{{"update_id", []string{updateID}}}, func(p *remotePart, row int64) (bool, error) {
		u, err := s.whole(ctx, p, row)
		found = u
		return err == nil, err
	})
	return found, err
}

// contract returns the update that creates a contract or takes it in, or nil.
func (s parquetSearch) contract(ctx context.Context, contractID string) (*schemas.Update, error) {
	if s.manifest.Ref().IsImports() {
		return s.imported(ctx, "contract_id", contractID)
	}
	var found *schemas.Update
	// Some contracts are exercised in every second update.
	wanted := []condition{{"contract_id", []string{contractID}}, {"kind", []string{string(schemas.Created), string(schemas.Assignment)}}}
	err := s.rows(ctx, schemas.ParquetEvents, wanted, func(p *remotePart, row int64) (bool, error) {
		events, err := readRows[schemas.EventRow](p, row, 1)
		if err != nil {
			return false, err
		}
		found, err = s.update(ctx, events[0].UpdateID)
		if found == nil && err == nil {
			err = published.Mismatchf("event %d of update %s belongs to no update of segment %s", events[0].Node, events[0].UpdateID, s.manifest.Ref())
		}
		return true, err
	})
	return found, err
}

func (s parquetSearch) imported(ctx context.Context, column, id string) (*schemas.Update, error) {
	var found *schemas.Update
	err := s.rows(ctx, schemas.ParquetImports, []condition{{column, []string{id}}}, func(p *remotePart, row int64) (bool, error) {
		rows, err := readRows[schemas.ImportRow](p, row, 1)
		if err != nil {
			return false, err
		}
		u := rows[0].Update()
		found = &u
		return true, nil
	})
	return found, err
}

// whole reads a row of table updates with its events.
func (s parquetSearch) whole(ctx context.Context, p *remotePart, row int64) (*schemas.Update, error) {
	rows, err := readRows[schemas.UpdateRow](p, row, 1)
	if err != nil {
		return nil, err
	}
	events, err := s.events(ctx, &rows[0])
	if err != nil {
		return nil, err
	}
	u, err := rows[0].Update(events)
	if err != nil {
		return nil, published.AsMismatch(err)
	}
	return &u, nil
}

// events reads the events of an update, which may go on in the next part.
func (s parquetSearch) events(ctx context.Context, u *schemas.UpdateRow) ([]schemas.EventRow, error) {
	var events []schemas.EventRow
	if u.EventCount == 0 {
		return nil, nil
	}
	err := s.rows(ctx, schemas.ParquetEvents, []condition{{"update_id", []string{u.UpdateID}}}, func(p *remotePart, row int64) (bool, error) {
		missing := int64(u.EventCount) - int64(len(events))
		more, err := readRows[schemas.EventRow](p, row, int(min(missing, p.file.NumRows()-row)))
		events = append(events, more...)
		// The rest, if any, is found as the first row with the id in the next part.
		p.ended = true // the rows that follow in this part have been read
		return len(events) == int(u.EventCount), err
	})
	return events, err
}

// condition is met by the rows with one of some texts in a column, which has one per row.
type condition struct {
	column string
	texts  []string
}

// rows calls each with the rows of a table that meet all conditions, in order, until it
// returns true. The first condition has one text and a column with a Bloom filter.
func (s parquetSearch) rows(ctx context.Context, table schemas.ParquetTable, wanted []condition, each func(p *remotePart, row int64) (done bool, err error)) error {
	for _, part := range s.manifest.Table(table).Parts {
		p, err := openRemotePart(ctx, s.objects, part, s.cost)
		if err != nil {
			return err
		}
		done, err := p.search(wanted, each)
		if err != nil {
			return fmt.Errorf("searching %s: %w", part.Key, err)
		}
		if done {
			return nil
		}
	}
	return nil
}

// Blocks are what is fetched of a part at once and kept while it is searched.
const (
	blockBytes = 128 << 10
	keptBlocks = 128
)

// remotePart is a part that is read in blocks. It serves one search and keeps its context,
// since io.ReaderAt has no room for one.
type remotePart struct {
	ctx     context.Context
	objects Reads
	part    published.Part
	cost    *LookupCost
	blocks  map[int64][]byte
	file    *parquet.File
	ended   bool // by the one who is given rows: no more are wanted of this part
}

func openRemotePart(ctx context.Context, objects Reads, part published.Part, cost *LookupCost) (*remotePart, error) {
	p := &remotePart{ctx: ctx, objects: objects, part: part, cost: cost, blocks: make(map[int64][]byte)}
	file, err := parquet.OpenFile(p, part.Bytes, parquet.SkipMagicBytes(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", part.Key, err)
	}
	p.file = file
	return p, nil
}

// ReadAt implements io.ReaderAt.
func (p *remotePart) ReadAt(dst []byte, off int64) (n int, err error) {
	for n < len(dst) {
		at := off + int64(n)
		if at >= p.part.Bytes {
			return n, io.EOF
		}
		block, err := p.block(at / blockBytes)
		if err != nil {
			return n, err
		}
		n += copy(dst[n:], block[at%blockBytes:])
	}
	return n, nil
}

func (p *remotePart) block(number int64) ([]byte, error) {
	if b := p.blocks[number]; b != nil {
		return b, nil
	}
	from := number * blockBytes
	to := min(from+blockBytes, p.part.Bytes)
	data, err := readRange(p.ctx, p.objects, p.part.Key, from, int(to-from))
	if err != nil {
		return nil, err
	}
	p.cost.Requests++
	p.cost.Bytes += int64(len(data))
	if len(p.blocks) == keptBlocks {
		clear(p.blocks)
	}
	p.blocks[number] = data
	return data, nil
}

// search calls each with the rows of the part that meet all conditions.
func (p *remotePart) search(wanted []condition, each func(p *remotePart, row int64) (bool, error)) (done bool, err error) {
	first := int64(0)
	for _, group := range p.file.RowGroups() {
		rows, err := p.rowsOf(group, wanted)
		if err != nil {
			return false, err
		}
		for _, row := range rows {
			if done, err := each(p, first+row); err != nil || done || p.ended {
				return done, err
			}
		}
		first += group.NumRows()
	}
	return false, nil
}

// rowsOf lists the rows of a row group that meet all conditions, from 0.
func (p *remotePart) rowsOf(group parquet.RowGroup, wanted []condition) (rows []int64, err error) {
	for i, c := range wanted {
		leaf, ok := p.file.Schema().Lookup(c.column)
		if !ok {
			return nil, published.Mismatchf("it has no column %s", c.column)
		}
		chunk := group.ColumnChunks()[leaf.ColumnIndex]
		if i > 0 {
			met, err := rowsWith(chunk, c.texts)
			if err != nil {
				return nil, err
			}
			rows = slices.DeleteFunc(rows, func(row int64) bool {
				_, ok := slices.BinarySearch(met, row)
				return !ok
			})
			continue
		}
		maybe, err := mayHave(chunk, c.texts[0])
		if !maybe || err != nil {
			return nil, err
		}
		if rows, err = rowsWith(chunk, c.texts); len(rows) == 0 || err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// mayHave asks the Bloom filter of a column chunk.
func mayHave(chunk parquet.ColumnChunk, value string) (bool, error) {
	filter := chunk.BloomFilter()
	if filter == nil {
		return true, nil
	}
	maybe, err := filter.Check(parquet.ValueOf(value))
	if err != nil {
		return false, fmt.Errorf("reading a Bloom filter: %w", err)
	}
	return maybe, nil
}

// rowsWith lists the rows of a column chunk that have one of some texts, ascending from 0.
func rowsWith(chunk parquet.ColumnChunk, texts []string) (rows []int64, err error) {
	pages := chunk.Pages()
	defer func() { err = errors.Join(err, pages.Close()) }()
	values := make([]parquet.Value, 512)
	row := int64(0)
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading a page: %w", err)
		}
		for in := page.Values(); ; {
			n, err := in.ReadValues(values)
			for i := range values[:n] {
				if slices.Contains(texts, string(values[i].ByteArray())) {
					rows = append(rows, row+int64(i))
				}
			}
			row += int64(n)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("reading values: %w", err)
			}
		}
		parquet.Release(page)
	}
}

// readRows reads n rows of a part from a row on.
func readRows[T any](p *remotePart, row int64, n int) (rows []T, err error) {
	reader := parquet.NewGenericReader[T](p.file)
	defer func() { err = errors.Join(err, reader.Close()) }()
	if err := reader.SeekToRow(row); err != nil {
		return nil, fmt.Errorf("seeking to row %d: %w", row, err)
	}
	rows = make([]T, n)
	for read := 0; read < n; {
		got, err := reader.Read(rows[read:])
		read += got
		if err != nil && (!errors.Is(err, io.EOF) || read < n) {
			return nil, fmt.Errorf("reading row %d: %w", row+int64(read), err)
		}
	}
	return slices.Clip(rows), nil
}

// readRange reads a range of an object.
func readRange(ctx context.Context, objects Reads, key string, from int64, size int) ([]byte, error) {
	body, err := objects.Get(ctx, key, from, from+int64(size))
	if err != nil {
		return nil, err
	}
	data := make([]byte, size)
	_, err = io.ReadFull(body, data)
	if err := errors.Join(err, body.Close()); err != nil {
		return nil, fmt.Errorf("reading %d bytes of %s from byte %d: %w", size, key, from, err)
	}
	return data, nil
}
