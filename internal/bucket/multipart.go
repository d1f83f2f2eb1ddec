package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// The clean-up of an upload that failed, which must also work when the caller's
// context has ended.
const (
	abortTimeout  = 10 * time.Second      // for all of it
	abortAttempts = 5                     // see abortFailed
	abortPause    = 50 * time.Millisecond // for parts that are on their way
)

// putParts sends the object in parts, several at a time. S3 knows SHA-256 only per
// part: the store verifies each part, and we compare the digest of the whole before
// the upload is completed, which is what makes the object visible.
//
// The SDK's transfer manager does not fit: it hashes every part once more, has no
// place to check the whole before it completes, and prints lost races to the global
// logger.
func (c *Client) putParts(ctx context.Context, up upload) error {
	id, err := c.createUpload(ctx, up)
	if err != nil {
		return err
	}
	parts, err := c.sendParts(ctx, up, id)
	if err == nil {
		err = c.completeUpload(ctx, up, id, parts)
	}
	if err != nil {
		return errors.Join(err, c.abortFailed(ctx, up.key, id))
	}
	return nil
}

// createUpload opens the upload and returns its id.
func (c *Client) createUpload(ctx context.Context, up upload) (string, error) {
	in := &s3.CreateMultipartUploadInput{
		Bucket:            &c.cfg.Bucket,
		Key:               c.key(up.key),
		ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
		Metadata:          up.metadata(),
	}
	if up.contentType != "" {
		in.ContentType = &up.contentType
	}
	out, err := c.s3.CreateMultipartUpload(ctx, in)
	if err != nil {
		return "", fmt.Errorf("opening upload: %w", err)
	}
	return aws.ToString(out.UploadId), nil
}

// partSender sends the parts of one upload.
type partSender struct {
	client *Client
	up     upload
	id     string
	size   int64 // of a part
	whole  hash.Hash
	parts  []types.CompletedPart
}

// sendParts sends all parts and returns them in order, or ErrChecksum if the body
// does not have the digest it should have.
func (c *Client) sendParts(ctx context.Context, up upload, id string) ([]types.CompletedPart, error) {
	size := partSize(up.size, c.cfg.PartSize)
	s := &partSender{
		client: c, up: up, id: id, size: size, whole: sha256.New(),
		parts: make([]types.CompletedPart, (up.size+size-1)/size),
	}
	if err := s.sendAll(ctx); err != nil {
		return nil, err
	}
	if got := s.whole.Sum(nil); !bytes.Equal(got, up.sum[:]) {
		return nil, fmt.Errorf("%w: body has %x, not %x", ErrChecksum, got, up.sum)
	}
	return s.parts, nil
}

// partSize returns a part size of at least wanted that needs no more than maxParts.
func partSize(total, wanted int64) int64 {
	return max(wanted, (total+maxParts-1)/maxParts)
}

// sendAll reads the parts one after the other and sends them concurrently.
func (s *partSender) sendAll(ctx context.Context) error {
	group, sending := guard.WithContext(ctx)
	for i := range s.parts {
		buffer, err := s.acquire(sending)
		if err != nil {
			break // the group knows why, or the caller's context has ended
		}
		part := (*buffer)[:min(s.size, s.up.size-int64(i)*s.size)]
		if _, err := io.ReadFull(s.up.body, part); err != nil {
			s.release(buffer)
			group.Go(func() error { return fmt.Errorf("reading part %d: %w", i+1, err) })
			break
		}
		s.whole.Write(part)
		group.Go(func() error {
			defer s.release(buffer)
			return s.send(sending, i, part)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// acquire waits for room for one more part in memory, which all uploads of the client
// share, and returns a buffer of the part size.
func (s *partSender) acquire(ctx context.Context) (*[]byte, error) {
	select {
	case s.client.parts <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if buffer, ok := s.client.buffers.Get().(*[]byte); ok && int64(len(*buffer)) >= s.size {
		return buffer, nil
	}
	buffer := make([]byte, s.size)
	return &buffer, nil
}

func (s *partSender) release(buffer *[]byte) {
	s.client.buffers.Put(buffer)
	<-s.client.parts
}

// send sends the part of index i, counted from 0, and notes its receipt.
func (s *partSender) send(ctx context.Context, i int, part []byte) error {
	sum := sha256.Sum256(part)
	number := aws.Int32(int32(i + 1))
	encoded := aws.String(base64.StdEncoding.EncodeToString(sum[:]))
	out, err := s.client.s3.UploadPart(ctx, &s3.UploadPartInput{
		Bucket:         &s.client.cfg.Bucket,
		Key:            s.client.key(s.up.key),
		UploadId:       &s.id,
		PartNumber:     number,
		Body:           bytes.NewReader(part),
		ContentLength:  aws.Int64(int64(len(part))),
		ChecksumSHA256: encoded,
	}, payloadHash(sum))
	if err != nil {
		return fmt.Errorf("sending part %d of %d: %w", i+1, len(s.parts), err)
	}
	s.parts[i] = types.CompletedPart{PartNumber: number, ETag: out.ETag, ChecksumSHA256: encoded}
	return nil
}

// completeUpload makes the object visible.
func (c *Client) completeUpload(ctx context.Context, up upload, id string, parts []types.CompletedPart) error {
	in := &s3.CompleteMultipartUploadInput{
		Bucket:          &c.cfg.Bucket,
		Key:             c.key(up.key),
		UploadId:        &id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	}
	if up.ifAbsent {
		in.IfNoneMatch = aws.String("*")
	}
	_, err := c.s3.CompleteMultipartUpload(ctx, in)
	if err == nil {
		return nil
	}
	// A repeated request finds the upload gone or the object there, see wroteIt.
	repeated := errorCode(err) == "NoSuchUpload" || errors.Is(classify(err), ErrExists)
	if repeated && c.wroteIt(ctx, up) {
		return nil
	}
	return fmt.Errorf("completing upload of %d parts: %w", len(parts), err)
}

// abortFailed removes what a failed upload left, even after ctx has ended. A part that
// was still on its way may bring an aborted upload back, which S3 allows, so it looks
// again. What escapes that is left to AbortStaleUploads.
func (c *Client) abortFailed(ctx context.Context, key, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
	defer cancel()
	for range abortAttempts {
		if err := c.abort(ctx, *c.key(key), id); err != nil {
			return err
		}
		time.Sleep(abortPause)
		_, err := c.s3.ListParts(ctx, &s3.ListPartsInput{Bucket: &c.cfg.Bucket, Key: c.key(key), UploadId: &id})
		if errorCode(err) == "NoSuchUpload" {
			return nil
		}
	}
	return errors.New("aborting upload: parts keep arriving")
}

// abort removes an unfinished upload. One that is gone already is no error.
func (c *Client) abort(ctx context.Context, storeKey, id string) error {
	_, err := c.s3.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
		Bucket: &c.cfg.Bucket, Key: &storeKey, UploadId: &id,
	})
	if err != nil && errorCode(err) != "NoSuchUpload" {
		return fmt.Errorf("aborting upload: %w", err)
	}
	return nil
}

// AbortStaleUploads removes the multipart uploads below the client's prefix that
// began more than olderThan ago and were never completed, as a crash leaves them:
// they take space and are billed. It returns how many were removed. Choose olderThan
// well above the longest upload, which it would break.
func (c *Client) AbortStaleUploads(ctx context.Context, olderThan time.Duration) (int, error) {
	uploads, err := c.unfinished(ctx)
	if err != nil {
		return 0, err
	}
	before := time.Now().Add(-olderThan)
	aborted := 0
	var failed []error
	for _, u := range uploads {
		if u.Initiated == nil || !u.Initiated.Before(before) {
			continue
		}
		if err := c.abortStale(ctx, u); err != nil {
			failed = append(failed, err)
			continue
		}
		aborted++
	}
	return aborted, errors.Join(failed...)
}

func (c *Client) abortStale(ctx context.Context, u types.MultipartUpload) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeouts.Call)
	defer cancel()
	if err := c.abort(ctx, aws.ToString(u.Key), aws.ToString(u.UploadId)); err != nil {
		return fmt.Errorf("stale upload of s3://%s/%s: %w", c.cfg.Bucket, aws.ToString(u.Key), err)
	}
	return nil
}

// unfinished lists all open uploads below the prefix.
func (c *Client) unfinished(ctx context.Context) ([]types.MultipartUpload, error) {
	in := &s3.ListMultipartUploadsInput{Bucket: &c.cfg.Bucket}
	if c.cfg.Prefix != "" {
		in.Prefix = &c.cfg.Prefix
	}
	var uploads []types.MultipartUpload
	for pages := s3.NewListMultipartUploadsPaginator(c.s3, in); pages.HasMorePages(); {
		page, err := c.nextUploads(ctx, pages)
		if err != nil {
			return nil, c.wrap("listing uploads of", "", err)
		}
		uploads = append(uploads, page.Uploads...)
	}
	return uploads, nil
}

func (c *Client) nextUploads(ctx context.Context, pages *s3.ListMultipartUploadsPaginator) (*s3.ListMultipartUploadsOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeouts.Call)
	defer cancel()
	return pages.NextPage(ctx)
}
