package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Files are files of the network's layout, such as those of another operator. They are below the root
// of Dir under their keys.
type Files struct {
	Dir fs.FS
	// Values has the types of values in compact_json.
	Values *values.Catalog
}

// Updates calls each with the updates after a position, in the order of history. Of a folder it reads
// the files in protobuf_json, or, where there are none, those in compact_json and converts the values.
// Updates with a value that cannot be converted, as the catalogue lacks its type, stay in compact_json.
//
// The first folder must begin at year 1, or not after the position, and no day between folders may be
// missing: the error names it. A day without updates is there if its active set is.
func (f Files) Updates(ctx context.Context, after schemas.Position, each func(*schemas.Update) error) error {
	files, err := filesOf(f.Dir)
	if err != nil {
		return err
	}
	folders, err := consecutive(files, after)
	if err != nil {
		return err
	}
	for _, of := range folders {
		if of.ref.End < after.RecordTime {
			continue
		}
		names, ok := namesInOrder(files[of])
		if !ok {
			return fmt.Errorf("a file is missing: %s", of)
		}
		lines := openLines(f.Dir, names)
		err := f.updates(ctx, of.encoding, lines, func(u *schemas.Update) error {
			if !after.Before(u.Position()) {
				return nil
			}
			return each(u)
		})
		if err := errors.Join(err, lines.close()); err != nil {
			return fmt.Errorf("reading %s: %w", of, err)
		}
	}
	return nil
}

// consecutive returns the files with updates by their time, in the better encoding.
func consecutive(files map[linesOfFolder][]numberedFile, after schemas.Position) ([]linesOfFolder, error) {
	best := make(map[schemas.NetworkRef]schemas.Encoding)
	var days []schemas.NetworkRef
	for of := range files {
		if of.ref.Kind == schemas.NetworkUpdates && best[of.ref] != schemas.ProtobufJSON {
			best[of.ref] = of.encoding
		}
		day := of.ref
		day.Kind = schemas.NetworkUpdates
		days = append(days, day)
	}
	slices.SortFunc(days, func(x, y schemas.NetworkRef) int { return cmp.Compare(x.End, y.End) })
	var folders []linesOfFolder
	end := schemas.MinMicros
	if after != schemas.Start {
		end = max(end, min(days[0].Start, after.RecordTime))
	}
	for _, day := range slices.Compact(days) {
		if day.Start != end {
			return nil, fmt.Errorf("the folder that begins at %s is missing: the next one is %s", end, day.Folder())
		}
		end = day.End
		if encoding, ok := best[day]; ok {
			folders = append(folders, linesOfFolder{day, encoding})
		}
	}
	return folders, nil
}

// pageLines is how many lines are decoded at once.
const pageLines = 256

// updates decodes lines.
func (f Files) updates(ctx context.Context, encoding schemas.Encoding, lines *lineReader, each func(*schemas.Update) error) error {
	var line []byte
	for ended := false; !ended; {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		page := []byte(`{"transactions":[`) // which the decoded updates refer to
		for n := 0; n < pageLines && !ended; n++ {
			var err error
			line, err = lines.next(line[:0])
			if ended = errors.Is(err, io.EOF); ended {
				break
			}
			if err != nil {
				return err
			}
			if n > 0 {
				page = append(page, ',')
			}
			page = append(page, line...)
		}
		items, err := schemas.DecodeUpdates(append(page, `]}`...), encoding)
		if err != nil {
			return err
		}
		for i := range items {
			u := items[i].Update
			if u.Encoding == schemas.CompactJSON {
				_ = f.Values.RestoreUpdate(u) // what cannot be converted is kept as it is
			}
			if err := each(u); err != nil {
				return err
			}
		}
	}
	return nil
}
