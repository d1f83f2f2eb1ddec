package bucket

import (
	"context"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

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
