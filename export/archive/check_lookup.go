package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// lookupCheck goes through the lookup objects of a segment beside its rows: the lines must
// be the rows, and index and filter must know their ids. Give it all updates in order,
// then finish; close in any case. Where there are no lookup objects it does nothing.
type lookupCheck struct {
	*segmentCheck
	objects []published.LookupPart
	none    bool
	next    int // part to open

	part    *published.LookupPart
	left    int64 // rows of the part that were not compared
	file    *bucket.Spool
	decoder *zstd.Decoder
	lines   *bufio.Reader
	line    []byte
	// index and filter are those of the part.
	index, filter []byte
}

func newLookupCheck(c *segmentCheck) *lookupCheck {
	if c.beside.Lookups == nil {
		return &lookupCheck{segmentCheck: c, none: true}
	}
	return &lookupCheck{segmentCheck: c, objects: c.beside.Lookups.Parts}
}

// compare holds the next line against an update and its row.
func (l *lookupCheck) compare(ctx context.Context, u *schemas.Update, row []byte) error {
	if l.none {
		return nil
	}
	for l.left == 0 {
		if err := l.endPart(); err != nil {
			return err
		}
		if err := l.open(ctx); err != nil {
			return err
		}
	}
	l.left--
	if err := l.readLine(); err != nil {
		return err
	}
	if !bytes.Equal(l.line, row) {
		return published.Mismatchf("%s has another line in place of update %s", l.part.Key, u.UpdateID)
	}
	if err := l.find(UpdateKey(u.UpdateID), u.UpdateID); err != nil {
		return err
	}
	for _, id := range CreatedIn(u) {
		if err := l.find(ContractKey(id), id); err != nil {
			return err
		}
	}
	return nil
}

func (l *lookupCheck) open(ctx context.Context) (err error) {
	if l.next == len(l.objects) {
		return published.Mismatchf("segment %s has more updates than lookup objects have lines", l.manifest.Ref())
	}
	l.part = &l.objects[l.next]
	l.next++
	l.left = l.part.Rows
	if l.file, err = l.parts.fetch(ctx, l.part.Part); err != nil {
		return err
	}
	l.onPart(l.part.Bytes)
	l.index, l.filter = make([]byte, l.part.Buckets*l.part.BucketBytes), make([]byte, l.part.FilterBytes)
	if _, err := l.file.File().ReadAt(l.index, l.part.IndexOffset); err != nil {
		return published.Mismatchf("reading the index of %s: %w", l.part.Key, err)
	}
	if _, err := l.file.File().ReadAt(l.filter, l.part.FilterOffset); err != nil || hexSum(l.filter) != l.part.FilterSHA256 {
		return published.Mismatchf("the filter of %s does not match its manifest: %w", l.part.Key, errors.Join(schemas.ErrMalformed, err))
	}
	if l.decoder, err = zstd.NewReader(l.file.File(), zstd.WithDecoderConcurrency(1)); err != nil {
		return fmt.Errorf("making a zstd decoder: %w", err)
	}
	l.lines = bufio.NewReaderSize(l.decoder, 1<<20)
	return nil
}

// readLine reads the next line without its line feed.
func (l *lookupCheck) readLine() error {
	l.line = l.line[:0]
	for {
		chunk, err := l.lines.ReadSlice('\n')
		l.line = append(l.line, chunk...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return published.Mismatchf("reading %s: %w", l.part.Key, err)
		default:
			l.line = l.line[:len(l.line)-1]
			return nil
		}
	}
}

// find makes sure that index and filter know a key.
func (l *lookupCheck) find(key LookupKey, id string) error {
	at := key.BucketOf(l.part.Buckets) * l.part.BucketBytes
	frames, err := framesOf(l.index[at:at+l.part.BucketBytes], key, l.part)
	if err != nil {
		return err
	}
	if len(frames) == 0 || !key.Passes(l.filter) {
		return published.Mismatchf("the index or the filter of %s does not contain %s", l.part.Key, id)
	}
	return nil
}

// finish makes sure that no line is left over.
func (l *lookupCheck) finish() error {
	if l.left > 0 || l.next < len(l.objects) {
		return published.Mismatchf("the lookup objects of segment %s have more lines than there are updates", l.manifest.Ref())
	}
	return l.endPart()
}

// endPart makes sure that the open part has no more lines than rows.
func (l *lookupCheck) endPart() error {
	if l.lines != nil {
		if _, err := l.lines.ReadByte(); !errors.Is(err, io.EOF) {
			return published.Mismatchf("%s has more than the %d lines that its manifest says: %w", l.part.Key, l.part.Rows, errors.Join(schemas.ErrMalformed, err))
		}
	}
	return l.close()
}

// close ends the open part.
func (l *lookupCheck) close() error {
	if l.decoder != nil {
		l.decoder.Close()
		l.decoder = nil
	}
	if l.file == nil {
		return nil
	}
	file := l.file
	l.file, l.lines = nil, nil
	return file.Close()
}
