package network

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Sizes are the sizes of the two kinds of objects in the network's layout.
type Sizes struct{ Updates, ACS Size }

// Measure says what all closed folders take in the network's layout in one
// encoding. It writes what Export would, and keeps nothing of it.
func (e *Exporter) Measure(ctx context.Context, encoding schemas.Encoding) (Sizes, error) {
	units, err := e.Catalog.ClosedFolders(ctx)
	if err != nil {
		return Sizes{}, err
	}
	sizes := make([]Size, len(units))
	running, ctx := guard.WithContext(ctx)
	running.SetLimit(e.Workers)
	for i, u := range units {
		running.Go(func() (err error) {
			sizes[i], err = e.measure(ctx, u, encoding)
			return err
		})
	}
	if err := running.Wait(); err != nil {
		return Sizes{}, err
	}
	var total Sizes
	for i, u := range units {
		if u.Ref.Kind == schemas.NetworkACS {
			total.ACS.Add(sizes[i])
		} else {
			total.Updates.Add(sizes[i])
		}
	}
	return total, nil
}

func (e *Exporter) measure(ctx context.Context, u published.Folder, encoding schemas.Encoding) (Size, error) {
	w, err := e.newLineWriter(encoding, nowhere{})
	if err != nil {
		return Size{}, err
	}
	err = e.writeLines(ctx, u, w)
	return w.total, err
}

// nowhere is a lineSink that keeps nothing.
type nowhere struct{}

func (nowhere) create() (io.Writer, error)         { return io.Discard, nil }
func (nowhere) finish(context.Context, Size) error { return nil }

// lineSink takes the objects of one kind and encoding of a folder, one after the other.
type lineSink interface {
	// create begins the next object.
	create() (io.Writer, error)
	// finish ends the object that was begun.
	finish(ctx context.Context, size Size) error
}

// lineTaker takes the lines of one kind and encoding of a folder, in order.
type lineTaker interface {
	// add takes the line that was appended to buffer()[:0], without its end.
	add(ctx context.Context, line []byte) error
	end(ctx context.Context) error
	buffer() []byte
	// form is the form of the lines, given the encoding in which their values are stored.
	form(stored schemas.Encoding) schemas.UpdateForm
}

// lines are what takers of lines have in common: the encoding, and memory for a line.
type lines struct {
	values values.Writer
	line   []byte
}

func (l *lines) buffer() []byte { return l.line[:0] }

func (l *lines) form(stored schemas.Encoding) schemas.UpdateForm {
	return schemas.UpdateForm{Values: l.values.For(stored), Published: true}
}

// lineWriter cuts the lines into objects.
type lineWriter struct {
	lines
	sink   lineSink
	cut    Cut
	frames *frameWriter
	// object counts the open object, if there is one, and total those that are ended.
	object *Size
	total  Size
}

func (e *Exporter) linesIn(encoding schemas.Encoding) lines {
	return lines{values: values.Writer{Catalog: e.Values, Want: encoding, Published: true}}
}

func (e *Exporter) newLineWriter(encoding schemas.Encoding, sink lineSink) (*lineWriter, error) {
	frames, err := newFrameWriter(e.Cut.FrameBytes)
	return &lineWriter{lines: e.linesIn(encoding), sink: sink, cut: e.Cut, frames: frames}, err
}

func (w *lineWriter) add(ctx context.Context, line []byte) error {
	w.line = append(line, '\n')
	if w.object == nil {
		out, err := w.sink.create()
		if err != nil {
			return err
		}
		w.object = new(Size)
		w.frames.out, w.frames.size = out, w.object
	}
	ended, err := w.frames.writeLine(w.line)
	if err != nil || !ended || w.object.ZstdBytes < w.cut.ObjectBytes {
		return err
	}
	return w.end(ctx)
}

// end ends the open object, if there is one.
func (w *lineWriter) end(ctx context.Context) error {
	if w.object == nil {
		return nil
	}
	if err := w.frames.end(); err != nil {
		return err
	}
	w.total.Add(*w.object)
	size := *w.object
	w.object = nil
	return w.sink.finish(ctx, size)
}

func appendUpdate(dst []byte, u *schemas.Update, to lineTaker) []byte {
	return schemas.AppendUpdate(dst, u, to.form(u.Encoding))
}

func appendContract(dst []byte, c *history.ActiveContract, to lineTaker) []byte {
	return schemas.AppendActiveContract(dst, &c.Event, c.CreatedIn, to.form(c.Encoding))
}

// writeLines writes all rows of a unit, a JSON line each, in all encodings in one reading.
func (e *Exporter) writeLines(ctx context.Context, u published.Folder, takers ...lineTaker) error {
	var err error
	if u.Ref.Kind == schemas.NetworkACS {
		err = e.Pages.Contracts(ctx, u.MigrationID, u.Ref.Start, func(ctx context.Context, page []history.ActiveContract) error {
			return writePage(ctx, page, takers, appendContract)
		})
	} else {
		err = e.Pages.Updates(ctx, u.After, u.Through, func(ctx context.Context, page []schemas.Update) error {
			return writePage(ctx, page, takers, appendUpdate)
		})
	}
	for _, w := range takers {
		if err == nil {
			err = w.end(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("writing %s as JSON lines: %w", u.Ref, err)
	}
	return nil
}

// writePage writes a page in each encoding, side by side.
func writePage[T any](ctx context.Context, page []T, takers []lineTaker, appendRow func([]byte, *T, lineTaker) []byte) error {
	running, ctx := guard.WithContext(ctx)
	for _, w := range takers {
		running.Go(func() error {
			for i := range page {
				if err := w.add(ctx, escapeControls(appendRow(w.buffer(), &page[i], w))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return running.Wait()
}

// escapeControls escapes the control characters of a line that canonical JSON leaves as they are,
// U+007F to U+009F, as the network does.
func escapeControls(line []byte) []byte {
	if bytes.IndexByte(line, 0x7f) < 0 && bytes.IndexByte(line, 0xc2) < 0 {
		return line // as nearly all are: UTF-8 has one of these bytes in each of the characters
	}
	isControl := func(r rune) bool { return r >= 0x7f && r <= 0x9f }
	for at := 0; ; {
		i := bytes.IndexFunc(line[at:], isControl)
		if i < 0 {
			return line
		}
		at += i
		r, size := utf8.DecodeRune(line[at:])
		line = slices.Replace(line, at, at+size, fmt.Appendf(nil, `\u%04x`, r)...)
	}
}

// bucketSink puts objects into the bucket.
type bucketSink struct {
	exporter  *Exporter
	ref       schemas.NetworkRef
	encoding  schemas.Encoding
	overwrite bool
	file      *bucket.Spool
	objects   []published.NetworkObject
}

// create begins an object on disk.
func (s *bucketSink) create() (_ io.Writer, err error) {
	s.file, err = bucket.NewSpool(s.exporter.TempDir)
	return s.file, err
}

// finish puts the object into the bucket.
func (s *bucketSink) finish(ctx context.Context, size Size) (err error) {
	defer func() { err = errors.Join(err, s.close()) }()
	sum, err := s.file.Finish()
	if err != nil {
		return err
	}
	key := schemas.NetworkKey(s.ref, s.encoding, len(s.objects))
	if err := s.exporter.Publisher.PutPart(ctx, key, s.file.File(), s.file.Size(), sum, mediaType, s.overwrite); err != nil {
		return err
	}
	s.objects = append(s.objects, published.NetworkObject{Key: key, Bytes: s.file.Size(), SHA256: fmt.Sprintf("%x", sum), Rows: size.Rows, Frames: size.Frames})
	return nil
}

// close removes the file of an object that was begun and not finished.
func (s *bucketSink) close() error {
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return file.Close()
}
