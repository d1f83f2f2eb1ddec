package buckettest

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
)

func staleUploadsAreAborted(t *testing.T, cfg bucket.Config) {
	cfg.Prefix = "ours/"
	c := Open(t, cfg)
	for _, key := range []string{"ours/a", "ours/a", "ours/b", "theirs/a"} {
		OpenUpload(t, cfg, key)
	}
	if n, err := c.AbortStaleUploads(t.Context(), time.Hour); n != 0 || err != nil {
		t.Errorf("uploads of this minute: %d aborted, %v, want none", n, err)
	}
	if n, err := c.AbortStaleUploads(t.Context(), -time.Hour); n != 3 || err != nil {
		t.Errorf("all uploads below our prefix: %d aborted, %v, want 3", n, err)
	}
	if left := Uploads(t, cfg); len(left) != 1 || left[0] != "theirs/a" {
		t.Errorf("uploads left: %v, want that outside our prefix only", left)
	}
}

// raw is the store without our client.
func raw(cfg bucket.Config) *s3.Client {
	return s3.New(s3.Options{
		Region: "us-east-1", BaseEndpoint: &cfg.Endpoint, UsePathStyle: cfg.PathStyle,
		Credentials: credentials.NewStaticCredentialsProvider(cfg.AccessKey, cfg.SecretKey, ""),
	})
}

// OpenUpload opens a multipart upload and leaves it, as a crash does.
func OpenUpload(t *testing.T, cfg bucket.Config, key string) {
	t.Helper()
	_, err := raw(cfg).CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: &cfg.Bucket, Key: &key})
	if err != nil {
		t.Fatal(err)
	}
}

// abortUploads removes all open uploads.
func abortUploads(t *testing.T, cfg bucket.Config) {
	t.Helper()
	store := raw(cfg)
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

// Uploads lists the keys of all open uploads.
func Uploads(t *testing.T, cfg bucket.Config) []string {
	t.Helper()
	out, err := raw(cfg).ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: &cfg.Bucket})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, u := range out.Uploads {
		keys = append(keys, aws.ToString(u.Key))
	}
	return keys
}

func wantNoUploads(t *testing.T, cfg bucket.Config) {
	t.Helper()
	if left := Uploads(t, cfg); len(left) != 0 {
		t.Errorf("uploads left open: %v", left)
	}
}
