package export

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	parquetzstd "github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// parquetType is the registered media type.
const parquetType = "application/vnd.apache.parquet"

// The writer's settings are part of the format: each one shows in the bytes. All are
// stated here, so that a new version of the library does not change one silently.
const (
	// pageBytes is the size of a page before compression, and what compression can refer back
	// to. 1 MiB makes the objects 5 % larger; 8 MiB take 1 % off, and a reader of one row
	// fetches whole pages.
	pageBytes = 4 << 20
	// compressionLevel is about zstd's level 7. With the default, about 3, the objects are 7 %
	// larger and the writer takes a quarter less processor time; the level above takes five
	// times as much and gains nothing.
	compressionLevel = zstd.SpeedBetterCompression
	// idLevel is that of columns of ids. Their digits are random, so that all there is to gain
	// is that a digit takes half a byte: looking harder for repetitions takes five times as
	// long and finds some that cost more than they save, 2 % of the column.
	idLevel = zstd.SpeedFastest
	// smallIDPage is the size below which pages of ids are compressed like all others: this level
	// soon gives up on what has no repetitions.
	smallIDPage = 64 << 10
	// pageVersion 1 is what every reader knows, and it compresses the levels of lists
	// and nulls as well.
	pageVersion = 1
	// boundBytes is how much of a text's minimum and maximum the page index keeps: as
	// much as tells update and contract ids apart.
	boundBytes = 64
	// bloomBits per value let about 1 in 100 absent values pass.
	bloomBits = 10
	// writeBuffer only saves calls and does not show.
	writeBuffer = 256 << 10
)

// writerVersion stands in every file. It changes with the settings above.
const writerVersion = "1.1.0"

// newParquetWriter returns a writer of one part. It must not be reset and used again:
// a writer remembers how it encoded the last file.
func newParquetWriter[T any](out io.Writer, codecs *codecs, table schemas.ParquetTable, ref schemas.SegmentRef) *parquet.GenericWriter[T] {
	options := []parquet.WriterOption{
		parquetSchema[T](codecs, table),
		parquet.Compression(codecs.values),
		parquet.CreatedBy("ledgerlake", writerVersion, "parquet-"+schemas.ParquetVersion),
		parquet.PageBufferSize(pageBytes),
		parquet.DataPageVersion(pageVersion),
		parquet.DataPageStatistics(false), // the page index has them
		parquet.ColumnIndexSizeLimit(func([]string) int { return boundBytes }),
		parquet.WriteBufferSize(writeBuffer),
		parquet.BloomFilters(bloomFilters(table)...),
		parquet.SortingWriterConfig(parquet.SortingColumns(sortingColumns(table)...)),
	}
	if table == schemas.ParquetMovements {
		options = append(options, parquet.SkipPageBounds("amount")) // the library's are of bytes without a sign
	}
	for _, kv := range metadata[T](table, ref) {
		options = append(options, parquet.KeyValueMetadata(kv[0], kv[1]))
	}
	return parquet.NewGenericWriter[T](out, options...)
}

// parquetSchema is that of rows of type T, with a codec of its own for each column of ids:
// these are the columns with a Bloom filter.
func parquetSchema[T any](codecs *codecs, table schemas.ParquetTable) *parquet.Schema {
	schema := parquet.SchemaOf(new(T))
	fields := slices.Clone(schema.Fields())
	for i, f := range fields {
		if slices.Contains(table.BloomColumns(), f.Name()) {
			fields[i] = idField{f, codecs.ids}
		}
	}
	return parquet.NewSchema(schema.Name(), rowNode{schema, fields})
}

// rowNode is a schema with other fields.
type rowNode struct {
	parquet.Node
	fields []parquet.Field
}

func (n rowNode) Fields() []parquet.Field { return n.fields }

// idField is a column of ids.
type idField struct {
	parquet.Field
	codec compress.Codec
}

func (f idField) Compression() compress.Codec { return f.codec }

func bloomFilters(table schemas.ParquetTable) []parquet.BloomFilterColumn {
	var filters []parquet.BloomFilterColumn
	for _, column := range table.BloomColumns() {
		filters = append(filters, parquet.SplitBlockFilter(bloomBits, column))
	}
	return filters
}

func sortingColumns(table schemas.ParquetTable) []parquet.SortingColumn {
	var columns []parquet.SortingColumn
	for _, column := range table.SortKey() {
		columns = append(columns, parquet.Ascending(column))
	}
	return columns
}

// metadata are the file's key-value pairs: what it holds, and every column described.
func metadata[T any](table schemas.ParquetTable, ref schemas.SegmentRef) [][2]string {
	pairs := [][2]string{
		{"ledgerlake.format_version", schemas.ParquetVersion},
		{"ledgerlake.table", string(table)},
		{"ledgerlake.stream", ref.Stream},
		{"ledgerlake.migration_id", strconv.FormatInt(ref.MigrationID, 10)},
		{"ledgerlake.date", ref.Date},
	}
	row := reflect.TypeFor[T]()
	for i := range row.NumField() {
		name, _, _ := strings.Cut(row.Field(i).Tag.Get("parquet"), ",")
		pairs = append(pairs, [2]string{"ledgerlake.column." + name, row.Field(i).Tag.Get("doc")})
	}
	return pairs
}

// codec compresses the pages of columns with zstd. It is safe for concurrent use.
type codec struct {
	parquetzstd.Codec // for reading, and for the names of it all
	level             zstd.EncoderLevel
	// encoders are those at rest, nil for those that were not needed yet. They take up to
	// 20 MB each, so there are only so many, and they serve one writer after the other.
	encoders chan *zstd.Encoder
}

// newCodec returns a codec that compresses at most so many pages at once.
func newCodec(level zstd.EncoderLevel, atOnce int) *codec {
	c := &codec{level: level, encoders: make(chan *zstd.Encoder, atOnce)}
	for range atOnce {
		c.encoders <- nil
	}
	return c
}

// Encode implements compress.Codec.
func (c *codec) Encode(dst, src []byte) (_ []byte, err error) {
	e := <-c.encoders
	defer func() { c.encoders <- e }()
	if e == nil {
		e, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(c.level), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false),
			zstd.WithLowerEncoderMem(true),
			// One goroutine: with several, zstd cuts its input by their number.
			zstd.WithEncoderConcurrency(1))
		if err != nil {
			return dst, fmt.Errorf("making a zstd encoder: %w", err)
		}
	}
	return e.EncodeAll(src, dst[:0]), nil
}

// codecs are those of columns of ids and of all others.
type codecs struct {
	values *codec
	ids    idCodec
}

func newCodecs(atOnce int) *codecs {
	values := newCodec(compressionLevel, atOnce)
	return &codecs{values: values, ids: idCodec{newCodec(idLevel, atOnce), values}}
}

// idCodec compresses pages of ids, with small for small pages.
type idCodec struct {
	*codec
	small *codec
}

// Encode implements compress.Codec.
func (c idCodec) Encode(dst, src []byte) ([]byte, error) {
	if len(src) < smallIDPage {
		return c.small.Encode(dst, src)
	}
	return c.codec.Encode(dst, src)
}
