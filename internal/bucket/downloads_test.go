package bucket_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
)

// TestDownloadsThroughStore reads as from any S3.
func TestDownloadsThroughStore(t *testing.T) {
	buckettest.RunDownloads(t, shelvesOf(buckettest.Gateway(t), false))
}

// TestDownloadsFromFolder reads the gateway's files.
func TestDownloadsFromFolder(t *testing.T) {
	buckettest.RunDownloads(t, shelvesOf(buckettest.Gateway(t), true))
}

// shelvesOf gives each call another bucket of g, with a prefix.
func shelvesOf(g *bucket.Gateway, direct bool) func(*testing.T) buckettest.Shelf {
	var n atomic.Int64
	return func(t *testing.T) buckettest.Shelf {
		cfg := g.Config(fmt.Sprintf("bucket-%d", n.Add(1)))
		cfg.Prefix = "mainnet/"
		s := buckettest.Shelf{Client: buckettest.Open(t, cfg), Files: g.Folder(cfg.Bucket) + "/mainnet"}
		folder := ""
		if direct {
			folder = g.Folder(cfg.Bucket)
		}
		s.Open = func(now func() time.Time) *bucket.Downloads {
			return bucket.NewDownloads(bucket.DownloadsConfig{Client: s.Client, Folder: folder, Now: now})
		}
		return s
	}
}
