package bucket

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// MaxPage is the most objects that one page of a list holds.
const MaxPage = 1000

// Page is a part of a listing, in the order of the keys' bytes.
type Page struct {
	Objects []Object
	// Next is the after of the page that follows, or "" if this one is the last.
	Next string
}

// List returns up to limit objects (1..MaxPage) whose key begins with prefix and is
// greater than after, in the order of the keys' bytes. prefix and after may be empty,
// and after need not exist.
func (c *Client) List(ctx context.Context, prefix, after string, limit int) (Page, error) {
	if limit < 1 || limit > MaxPage {
		return Page{}, fmt.Errorf("listing %s: limit %d is not within 1..%d", c.url(prefix), limit, MaxPage)
	}
	in := &s3.ListObjectsV2Input{
		Bucket:  &c.cfg.Bucket,
		MaxKeys: aws.Int32(int32(limit)),
		Prefix:  c.key(prefix),
	}
	if after != "" {
		in.StartAfter = c.key(after)
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeouts.Call)
	defer cancel()
	out, err := c.s3.ListObjectsV2(ctx, in)
	if err != nil {
		return Page{}, c.wrap("listing", prefix, err)
	}
	return c.page(out), nil
}

func (c *Client) page(out *s3.ListObjectsV2Output) Page {
	page := Page{Objects: make([]Object, 0, len(out.Contents))}
	for _, o := range out.Contents {
		page.Objects = append(page.Objects, c.listed(o))
	}
	if aws.ToBool(out.IsTruncated) && len(page.Objects) > 0 {
		page.Next = page.Objects[len(page.Objects)-1].Key
	}
	return page
}

func (c *Client) listed(o types.Object) Object {
	return Object{
		Key:      strings.TrimPrefix(aws.ToString(o.Key), c.cfg.Prefix),
		Size:     aws.ToInt64(o.Size),
		ETag:     trimETag(o.ETag),
		Modified: aws.ToTime(o.LastModified).UTC(),
	}
}

// All walks over all objects whose key begins with prefix, in the order of the keys'
// bytes, one page in memory at a time. An error ends the walk.
func (c *Client) All(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for after, more := "", true; more; {
			page, err := c.List(ctx, prefix, after, MaxPage)
			if err != nil {
				yield(Object{}, err)
				return
			}
			for _, o := range page.Objects {
				if !yield(o, nil) {
					return
				}
			}
			after, more = page.Next, page.Next != ""
		}
	}
}
