package bucket

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
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
