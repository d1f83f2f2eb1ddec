package scan

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
)

// octetStream is the type of bulk objects.
const octetStream = "application/octet-stream"

// download streams a published object, or one range of its bytes. The key may come
// with its slashes as they are or encoded.
func (b *bulkObjects) download(ctx context.Context, r *query.Request) error {
	key, err := r.Path("object_key")
	if err != nil {
		return err
	}
	o, err := b.publishedObject(ctx, key)
	if err != nil {
		return err
	}
	err = b.sendObject(ctx, r, o)
	if !errors.Is(err, errNotAsListed) {
		return err
	}
	// What we remembered may be out of date: the object may have been withdrawn since, or
	// replaced by another one.
	b.listings.forget(key)
	again, findErr := b.publishedObject(ctx, key)
	if findErr != nil {
		return findErr
	}
	if again != o {
		err = b.sendObject(ctx, r, again)
	}
	return err
}

// publishedObject looks an object up, or returns an Error of class NotFound.
func (b *bulkObjects) publishedObject(ctx context.Context, key string) (Object, error) {
	if b.listings == nil {
		return Object{}, query.Errorf(query.NotFound, "There is no object %s.", key)
	}
	o, ok, err := b.listings.object(ctx, key)
	if err == nil && !ok {
		err = query.Errorf(query.NotFound, "There is no object %s.", key)
	}
	return o, err
}

// errNotAsListed says that an object cannot be had as it was published. That is our fault,
// not the caller's: not a 404.
var errNotAsListed = errors.New("it is missing or damaged")

// sendObject sends an object, the range that is asked for, or that the client has it already.
func (b *bulkObjects) sendObject(ctx context.Context, r *query.Request, o Object) error {
	etag := `"` + hex.EncodeToString(o.SHA256[:]) + `"`
	if r.Matches(etag) {
		describe(r, etag)
		return r.Empty(304)
	}
	part, err := requestedRange(r, etag, o.Size)
	if err != nil {
		describe(r, etag)
		r.SetHeader("Content-Range", fmt.Sprintf("bytes */%d", o.Size))
		return err
	}
	status, from, to := 200, int64(0), o.Size
	if part != nil {
		status, from, to = 206, part.from, part.to
	}
	var stream io.ReadCloser
	if !r.IsHead() {
		if stream, err = b.bulk.Open(ctx, o, from, to); err != nil {
			return fmt.Errorf("opening published object %s: %w: %v", o.Key, errNotAsListed, err)
		}
	}
	describe(r, etag)
	if part != nil {
		r.SetHeader("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, o.Size))
	}
	return r.Send(status, octetStream, to-from, stream)
}

// describe sets the headers of every answer that is about an object's content.
func describe(r *query.Request, etag string) {
	r.SetHeader("ETag", etag)
	r.SetHeader("Accept-Ranges", "bytes")
	// To be kept, but asked for again with its tag: a segment may be published again.
	r.SetHeader("Cache-Control", "public, no-cache")
}

// byteRange is a stretch of bytes: from is inclusive, to exclusive.
type byteRange struct{ from, to int64 }

// requestedRange returns the range that the request asks for, nil for everything.
func requestedRange(r *query.Request, etag string, size int64) (*byteRange, error) {
	if condition := r.Header("If-Range"); condition != "" && condition != etag {
		return nil, nil // another version, or a date: send all of it
	}
	return parseRange(r.Header("Range"), size)
}

// parseRange reads a Range header. Headers it does not understand, and those with
// several ranges, count as none, as the protocol allows.
func parseRange(header string, size int64) (*byteRange, error) {
	set, ok := strings.CutPrefix(header, "bytes=")
	first, last, dash := strings.Cut(strings.TrimSpace(set), "-")
	if !ok || !dash || strings.Contains(set, ",") {
		return nil, nil
	}
	from, okFrom := parseOffset(first)
	to, okTo := parseOffset(last)
	switch {
	case first == "" && okTo: // the last so many bytes
		from, to = max(0, size-to), size
	case okFrom && last == "":
		to = size
	case okFrom && okTo && from <= to:
		to = min(to+1, size)
	default:
		return nil, nil
	}
	if from >= to {
		return nil, query.Errorf(query.RangeNotSatisfiable, "The object has only %d bytes.", size)
	}
	return &byteRange{from, to}, nil
}

// parseOffset reads up to 18 digits, more than any object has bytes.
func parseOffset(digits string) (n int64, ok bool) {
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}
