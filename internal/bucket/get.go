package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Reader streams an object or a range of it. It is not safe for concurrent use.
type Reader struct {
	// Object describes the whole object, also when only a range is read.
	Object Object
	// From is the first byte of the range and To the one behind its last.
	From, To int64

	// next asks for the rest from an offset on, for when the connection breaks.
	next    func(from int64) (io.ReadCloser, error)
	body    io.ReadCloser
	offset  int64 // of the next byte
	retries int   // how many more broken connections to accept
	// whole is the running digest, nil unless the whole object is read and is to be checked;
	// want is what it must be in the end, and verified is then called, if set.
	whole    hash.Hash
	want     [32]byte
	verified func()
	err      error // sticky
}

// Get opens the bytes from..to of an object, from inclusive and to exclusive, counted
// from 0; a negative to, or one behind the end, means the end. ErrNotFound means that
// there is no such object, ErrRange that from lies behind its end.
//
// Nothing is buffered. A broken connection is resumed where it broke, as long as the
// object is still the same, else Read returns ErrChanged. When the whole object is
// read, its SHA-256 is checked and Read ends with ErrChecksum in place of io.EOF if it
// differs. ctx must live until the reader is closed, and the caller closes it.
func (c *Client) Get(ctx context.Context, key string, from, to int64) (*Reader, error) {
	if err := checkKey(c.cfg.Prefix + key); err != nil {
		return nil, err
	}
	if from < 0 || (to >= 0 && to < from) {
		return nil, fmt.Errorf("getting %s: %w: from %d to %d", c.url(key), ErrRange, from, to)
	}
	if from == to {
		return c.emptyRange(ctx, key, from)
	}
	out, err := c.getRange(ctx, key, from, to, "")
	if err != nil {
		return nil, c.wrap("getting", key, err)
	}
	return c.newReader(ctx, key, from, out), nil
}

// emptyRange serves from == to, which no HTTP range can say.
func (c *Client) emptyRange(ctx context.Context, key string, at int64) (*Reader, error) {
	object, err := c.Head(ctx, key)
	if err != nil {
		return nil, err
	}
	if at > object.Size {
		return nil, fmt.Errorf("getting %s: %w: from %d of %d bytes", c.url(key), ErrRange, at, object.Size)
	}
	return &Reader{Object: object, From: at, To: at, offset: at, body: io.NopCloser(bytes.NewReader(nil))}, nil
}

// getRange asks for a range of the object, if etag is not "" only while it has that tag.
func (c *Client) getRange(ctx context.Context, key string, from, to int64, etag string) (*s3.GetObjectOutput, error) {
	in := &s3.GetObjectInput{Bucket: &c.cfg.Bucket, Key: c.key(key)}
	if etag != "" {
		in.IfMatch = aws.String(`"` + etag + `"`)
	}
	switch {
	case to >= 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", from, to-1))
	case from > 0: // from 0 on is no range: it would not be satisfiable on an empty object
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", from))
	}
	return c.s3.GetObject(ctx, in)
}

// newReader returns a reader over the store's answer.
func (c *Client) newReader(ctx context.Context, key string, from int64, out *s3.GetObjectOutput) *Reader {
	length := aws.ToInt64(out.ContentLength)
	r := &Reader{
		Object: Object{
			Key:         key,
			Size:        totalSize(out),
			ETag:        trimETag(out.ETag),
			SHA256:      sumOf(out.Metadata),
			ContentType: aws.ToString(out.ContentType),
			Modified:    aws.ToTime(out.LastModified).UTC(),
		},
		From: from, To: from + length,
		body: out.Body, offset: from, retries: c.cfg.MaxAttempts - 1,
	}
	if length == r.Object.Size && r.Object.SHA256 != [32]byte{} {
		r.whole, r.want = sha256.New(), r.Object.SHA256
	}
	r.next = func(offset int64) (io.ReadCloser, error) {
		out, err := c.getRange(ctx, key, offset, r.To, r.Object.ETag)
		if errors.Is(classify(err), ErrExists) { // 412: the tag differs
			return nil, fmt.Errorf("getting %s: %w", c.url(key), ErrChanged)
		}
		if err != nil {
			return nil, c.wrap("getting", key, err)
		}
		return out.Body, nil
	}
	return r
}

// totalSize is the size of the whole object, from "bytes 0-9/100" or, for an answer
// that is not a range, from its length.
func totalSize(out *s3.GetObjectOutput) int64 {
	_, total, found := strings.Cut(aws.ToString(out.ContentRange), "/")
	if size, err := strconv.ParseInt(total, 10, 64); found && err == nil {
		return size
	}
	return aws.ToInt64(out.ContentLength)
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if r.err != nil || len(p) == 0 {
		return 0, r.err
	}
	n, err := r.body.Read(p)
	r.offset += int64(n)
	if r.whole != nil {
		r.whole.Write(p[:n])
	}
	if err != nil {
		r.err = r.ended(err)
	}
	return n, r.err
}

// ended decides what the end of the body means: io.EOF at the end of the range, nil
// if the rest can be had over a new connection, else an error.
func (r *Reader) ended(err error) error {
	switch {
	case r.offset == r.To:
		return r.verify()
	case r.retries == 0 || r.next == nil:
		return fmt.Errorf("reading %s at byte %d of %d: %w", r.Object.Key, r.offset, r.To, unexpected(err))
	}
	r.retries--
	body, err := r.next(r.offset)
	if err != nil {
		return err
	}
	_ = r.body.Close() // broken; what it says adds nothing
	r.body = body
	return nil
}

// unexpected turns an end that came too early into an error that says so.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// verify returns io.EOF, or ErrChecksum if all was read and is not what was stored.
func (r *Reader) verify() error {
	if r.whole == nil {
		return io.EOF
	}
	if got := r.whole.Sum(nil); !bytes.Equal(got, r.want[:]) {
		return fmt.Errorf("reading %s: %w: got %x, stored as %x", r.Object.Key, ErrChecksum, got, r.want)
	}
	if r.verified != nil {
		r.verified()
	}
	return io.EOF
}

// Close ends the stream. Closing early is fine.
func (r *Reader) Close() error {
	if r.err == nil {
		r.err = errors.New("read of a closed object reader")
	}
	return r.body.Close()
}
