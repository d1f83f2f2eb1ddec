package scan

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
)

// octetStream is the type of bulk objects.
const octetStream = "application/octet-stream"

// download streams a published object, or one range of its bytes. The key may come
// with its slashes as they are or encoded.
func (a *API) download(ctx context.Context, r *query.Request) error {
	key, err := r.Path("object_key")
	if err != nil {
		return err
	}
	if a.cfg.Bulk == nil {
		return query.Errorf(query.NotFound, "There is no object %s.", key)
	}
	found, err := a.cfg.Bulk.Objects(ctx, key)
	if err != nil {
		return err
	}
	o, ok := found[key]
	if !ok {
		return query.Errorf(query.NotFound, "There is no object %s.", key)
	}
	etag := `"` + hex.EncodeToString(o.SHA256[:]) + `"`
	r.SetHeader("ETag", etag)
	r.SetHeader("Accept-Ranges", "bytes")
	// To be kept, but asked for again with its tag: a segment may be published again.
	r.SetHeader("Cache-Control", "public, no-cache")
	if r.Matches(etag) {
		return r.Empty(304)
	}
	part, err := requestedRange(r, etag, o.Bytes)
	if err != nil {
		r.SetHeader("Content-Range", fmt.Sprintf("bytes */%d", o.Bytes))
		return err
	}
	return a.sendObject(ctx, r, o, part)
}

// sendObject sends the bytes of a part, or of the whole object when part is nil.
func (a *API) sendObject(ctx context.Context, r *query.Request, o Object, part *byteRange) error {
	status, from, to := 200, int64(0), o.Bytes
	if part != nil {
		status, from, to = 206, part.from, part.to
		r.SetHeader("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, o.Bytes))
	}
	if r.IsHead() {
		return r.Send(status, octetStream, to-from, nil)
	}
	stream, err := a.cfg.Bulk.Open(ctx, o.Key, from, to)
	if err != nil {
		// Published but not there is our fault, not the caller's: not a 404.
		return fmt.Errorf("opening published object %s: %v", o.Key, err)
	}
	return r.Send(status, octetStream, to-from, stream)
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
