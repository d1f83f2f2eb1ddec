package parties

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/ledgerlake/ledgerlake/internal/columnar"
	"github.com/ledgerlake/ledgerlake/internal/history/accounts"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	// statementLines are read at a time: some 3 MB.
	statementLines = 4096
	// statementBytes is what a statement takes: two pieces, and a row group.
	statementBytes = 64 << 20
	// groupLines are the lines of a row group, which is held until it is complete.
	groupLines = 4 * statementLines
	pageBytes  = 64 << 10
)

// columns are those of a statement with their types.
var columns = [][2]string{
	{"time", "DateTime64(6, 'UTC')"}, {"update_id", "String"}, {"cause", "String"}, {"class", "String"}, {"purpose", "String"},
	{"counterparty", "String"}, {"pocket", "String"}, {"amount", "Decimal(38, 10)"}, {"balance", "Decimal(38, 10)"}, {"reason", "String"},
	{"round", "Int64"}, {"reference", "String"}, {"instrument", "String"}, {"migration_id", "Int64"},
}

// encoder writes lines into a buffer that its maker has.
type encoder interface {
	write(lines []accounts.Line) error
	close() error
	contentType() string
	ending() string
}

// statement streams the movements of an account with what is held after each: from parameter from on, and up to
// parameter to or the instant of the page.
func (s *Parties) statement(encode func(*bytes.Buffer) (encoder, error)) func(context.Context, *page.View) error {
	return func(ctx context.Context, v *page.View) error {
		h, err := s.account(ctx, v)
		if err != nil {
			return err
		}
		if len(h.balances) == 0 {
			return page.Missing("This party has never held anything.")
		}
		from, err := v.Time("from")
		if err != nil {
			return err
		}
		start := store.BeforeHistory
		if from != nil {
			start = *from
		}
		to, err := v.Time("to")
		if err != nil {
			return err
		}
		if to != nil {
			h.account.At = min(wholeDay(*to, v.Param("to")), h.account.At)
		}
		if ctx, err = v.Reserve(ctx, statementBytes); err != nil {
			return err
		}
		return s.send(ctx, v, h.account, start, encode)
	}
}

// wholeDay is the end of a day that was named without a time, or the instant that was.
func wholeDay(at schemas.Micros, text string) schemas.Micros {
	if len(text) == len(time.DateOnly) {
		return at + schemas.Micros(24*time.Hour/time.Microsecond) - 1
	}
	return at
}

// send streams a statement.
func (s *Parties) send(ctx context.Context, v *page.View, a accounts.Account, from schemas.Micros, encode func(*bytes.Buffer) (encoder, error)) error {
	lines, err := s.cfg.Accounts.Statement(ctx, a, from, statementLines)
	if err != nil {
		return err
	}
	var buffer bytes.Buffer
	out, err := encode(&buffer)
	if err != nil {
		return fmt.Errorf("beginning a statement: %w", err)
	}
	v.SetHeader("Content-Disposition", `attachment; filename="statement`+out.ending()+`"`)
	v.SetHeader("Cache-Control", "no-store")
	return v.ProduceAs(ctx, out.contentType(), func(ctx context.Context, dst []byte) ([]byte, bool, error) {
		page, err := lines.Next(ctx)
		if err != nil {
			return dst, false, err
		}
		more := len(page) == statementLines
		if err = out.write(page); err == nil && !more {
			err = out.close()
		}
		dst = append(dst, buffer.Bytes()...)
		buffer.Reset()
		return dst, more, err
	})
}

// csvLines writes CSV with a line of names. The time of what history began with is empty.
type csvLines struct {
	out    *csv.Writer
	record []string
	time   []byte
}

func newCSV(to *bytes.Buffer) (encoder, error) {
	c := &csvLines{out: csv.NewWriter(to)}
	for _, column := range columns {
		c.record = append(c.record, column[0])
	}
	return c, c.out.Write(c.record)
}

func (c *csvLines) contentType() string { return "text/csv; charset=utf-8; header=present" }
func (c *csvLines) ending() string      { return ".csv" }

func (c *csvLines) write(lines []accounts.Line) error {
	for i := range lines {
		l := &lines[i]
		c.time = c.time[:0]
		if l.RecordTime > store.BeforeHistory {
			c.time = schemas.AppendRecordTime(c.time, l.RecordTime)
		}
		c.record = append(c.record[:0], string(c.time), l.UpdateID, l.Cause, l.Class, l.Purpose, l.Counterparty, l.Pocket, l.Amount.String(), l.Balance.String(),
			l.Reason, strconv.FormatInt(l.Round, 10), l.Reference, l.Instrument, strconv.FormatInt(l.MigrationID, 10))
		if err := c.out.Write(c.record); err != nil {
			return err
		}
	}
	c.out.Flush()
	return c.out.Error()
}

func (c *csvLines) close() error { return nil }

// parquetLines writes Parquet, compressed with zstd: by one encoder at a time and fast, as each takes megabytes.
type parquetLines struct {
	out      *parquet.GenericWriter[any]
	shredder *columnar.Shredder
	values   []any
	held     int // lines of the row group that is not complete
}

func newParquet(to *bytes.Buffer) (encoder, error) {
	var fields []arrow.Field
	for _, column := range columns {
		fields = append(fields, columnar.Field(column[0], column[1]))
	}
	group, err := columnar.Group(fields)
	if err != nil {
		return nil, err
	}
	out := parquet.NewGenericWriter[any](to, parquet.NewSchema("statement", group), parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest, Concurrency: 1}),
		parquet.PageBufferSize(pageBytes), parquet.WriteBufferSize(pageBytes))
	return &parquetLines{out: out, shredder: columnar.NewShredder(fields)}, nil
}

func (p *parquetLines) contentType() string { return "application/vnd.apache.parquet" }
func (p *parquetLines) ending() string      { return ".parquet" }

func (p *parquetLines) write(lines []accounts.Line) error {
	for i := range lines {
		l := &lines[i]
		var at any
		if l.RecordTime > store.BeforeHistory {
			at = l.RecordTime
		}
		p.values = append(p.values[:0], at, l.UpdateID, l.Cause, l.Class, l.Purpose, l.Counterparty, l.Pocket, l.Amount, l.Balance,
			l.Reason, l.Round, l.Reference, l.Instrument, l.MigrationID)
		row, _, err := p.shredder.Shred(p.values)
		if err != nil {
			return err
		}
		if _, err := p.out.WriteRows([]parquet.Row{row}); err != nil {
			return err
		}
	}
	if p.held += len(lines); p.held < groupLines {
		return nil
	}
	p.held = 0
	return p.out.Flush()
}

func (p *parquetLines) close() error { return p.out.Close() }
