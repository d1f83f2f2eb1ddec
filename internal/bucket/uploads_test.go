package bucket_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
)

func staleUploadsAreAborted(t *testing.T, cfg bucket.Config) {
	cfg.Prefix = "ours/"
	c := buckettest.Open(t, cfg)
	for _, key := range []string{"ours/a", "ours/a", "ours/b", "theirs/a"} {
		buckettest.OpenUpload(t, cfg, key)
	}
	if n, err := c.AbortStaleUploads(t.Context(), time.Hour); n != 0 || err != nil {
		t.Errorf("uploads of this minute: %d aborted, %v, want none", n, err)
	}
	if n, err := c.AbortStaleUploads(t.Context(), -time.Hour); n != 3 || err != nil {
		t.Errorf("all uploads below our prefix: %d aborted, %v, want 3", n, err)
	}
	if left := buckettest.Uploads(t, cfg); len(left) != 1 || left[0] != "theirs/a" {
		t.Errorf("uploads left: %v, want that outside our prefix only", left)
	}
}

// abortUploads removes all open uploads.
func abortUploads(t *testing.T, cfg bucket.Config) {
	t.Helper()
	store := buckettest.Raw(cfg)
	out, err := store.ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: &cfg.Bucket})
	if err != nil {
		t.Error(err)
		return
	}
	for _, u := range out.Uploads {
		if _, err := store.AbortMultipartUpload(t.Context(), &s3.AbortMultipartUploadInput{Bucket: &cfg.Bucket, Key: u.Key, UploadId: u.UploadId}); err != nil {
			t.Error(err)
		}
	}
}

func wantNoUploads(t *testing.T, cfg bucket.Config) {
	t.Helper()
	if left := buckettest.Uploads(t, cfg); len(left) != 0 {
		t.Errorf("uploads left open: %v", left)
	}
}
