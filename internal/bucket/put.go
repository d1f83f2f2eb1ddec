package bucket

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
)

// upload is one object on its way into the bucket.
type upload struct {
	key         string
	body        io.ReadSeeker
	size        int64
	sum         [32]byte
	contentType string
	ifAbsent    bool
	// writeID is random, see wroteIt.
	writeID string
}

// Put stores body, from its start, under key and replaces what is there. size is the
// length of body in bytes and sum its SHA-256: if the bytes that arrive have another
// one, nothing is stored and the error is ErrChecksum. The body is read once, or
// again from its start when an attempt has failed, and is not closed.
func (c *Client) Put(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string) error {
	return c.put(ctx, upload{key: key, body: body, size: size, sum: sum, contentType: contentType})
}

// PutIfAbsent is Put for a key that must be new: if an object is there it is left
// alone and the error is ErrExists. Of any number of writers exactly one succeeds,
// also when the store's answer to a writer is lost and its request is repeated.
func (c *Client) PutIfAbsent(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string) error {
	return c.put(ctx, upload{key: key, body: body, size: size, sum: sum, contentType: contentType, ifAbsent: true})
}

func (c *Client) put(ctx context.Context, up upload) error {
	if err := checkKey(c.cfg.Prefix + up.key); err != nil {
		return err
	}
	if err := rewind(up.body, up.size); err != nil {
		return c.wrap("putting", up.key, err)
	}
	up.writeID = rand.Text()
	send := c.putWhole
	if up.size > c.cfg.PartSize {
		send = c.putParts
	}
	err := send(ctx, up)
	for again := 1; again < uploads && errorCode(err) == "NoSuchUpload"; again++ {
		if err = rewind(up.body, up.size); err == nil {
			err = send(ctx, up)
		}
	}
	if err != nil {
		return c.wrap("putting", up.key, err)
	}
	return nil
}

// uploads is how many times an object is sent in parts at most: stores remove uploads that are
// open for long, also those under way.
const uploads = 3

// rewind checks the length of body and seeks to its start.
func rewind(body io.ReadSeeker, size int64) error {
	length, err := body.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("measuring body: %w", err)
	}
	if length != size {
		return fmt.Errorf("body has %d bytes, not %d", length, size)
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("rewinding body: %w", err)
	}
	return nil
}

// putWhole sends the object in one request. The known SHA-256 is both the checksum
// that the store verifies and the payload hash of the signature, so the body is read
// only once, while it is sent.
func (c *Client) putWhole(ctx context.Context, up upload) error {
	in := &s3.PutObjectInput{
		Bucket:         &c.cfg.Bucket,
		Key:            c.key(up.key),
		Body:           up.body,
		ContentLength:  aws.Int64(up.size),
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(up.sum[:])),
		Metadata:       up.metadata(),
	}
	if up.contentType != "" {
		in.ContentType = &up.contentType
	}
	if up.ifAbsent {
		in.IfNoneMatch = aws.String("*")
	}
	_, err := c.s3.PutObject(ctx, in, payloadHash(up.sum))
	if up.ifAbsent && errors.Is(classify(err), ErrExists) && c.wroteIt(ctx, up) {
		return nil
	}
	return err
}

// metadata is kept with the object.
func (up upload) metadata() map[string]string {
	return map[string]string{metaSHA256: hex.EncodeToString(up.sum[:]), metaWrite: up.writeID}
}

// wroteIt reports whether the object in the store is the one that up sent. When the
// answer to a conditional write is lost, the repeated request finds the object that
// the first one stored and is refused: the write did succeed.
func (c *Client) wroteIt(ctx context.Context, up upload) bool {
	out, err := c.head(ctx, up.key)
	return err == nil && out.Metadata[metaWrite] == up.writeID
}

// payloadHash signs a request with the known SHA-256 of its body. Else the SDK would
// read the body once more to find it out, or on TLS leave the body unsigned.
func payloadHash(sum [32]byte) func(*s3.Options) {
	set := middleware.InitializeMiddlewareFunc("LedgerlakePayloadHash",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
			middleware.InitializeOutput, middleware.Metadata, error,
		) {
			return next.HandleInitialize(v4.SetPayloadHash(ctx, hex.EncodeToString(sum[:])), in)
		})
	return func(o *s3.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(set, middleware.Before)
		})
	}
}

// Copy copies an object within the store, with its metadata, and replaces what is under the
// key to. The object is there completely or not at all. It may have up to 5 GiB.
// ErrNotFound means that there is no object to copy.
func (c *Client) Copy(ctx context.Context, from, to string) error {
	for _, key := range []string{from, to} {
		if err := checkKey(c.cfg.Prefix + key); err != nil {
			return err
		}
	}
	_, err := c.s3.CopyObject(ctx, &s3.CopyObjectInput{
		Bucket: &c.cfg.Bucket, Key: c.key(to), CopySource: aws.String(escapeSource(c.cfg.Bucket + "/" + c.cfg.Prefix + from)),
	})
	if err != nil {
		return c.wrap("copying "+from+" to", to, err)
	}
	return nil
}

// escapeSource escapes what names the source of a copy, which travels in a header.
func escapeSource(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		// Not PathEscape, which leaves a plus that stores read as a space.
		parts[i] = strings.ReplaceAll(url.QueryEscape(part), "+", "%20")
	}
	return strings.Join(parts, "/")
}
