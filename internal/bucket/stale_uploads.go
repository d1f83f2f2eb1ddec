package bucket

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

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
