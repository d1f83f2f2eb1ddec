package bucket_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestConfigHidesItsSecret(t *testing.T) {
	cfg := bucket.Config{Bucket: "lake", AccessKey: "AKID", SecretKey: "hush-hush"}
	var logged bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("opened", "bucket", cfg)
	encoded, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, printed := range []string{
		fmt.Sprintf("%v", cfg), fmt.Sprintf("%+v", cfg), fmt.Sprintf("%#v", cfg), cfg.String(),
		fmt.Sprintf("%+v", struct{ S3 bucket.Config }{cfg}), logged.String(),
	} {
		if strings.Contains(printed, "hush") || !strings.Contains(printed, "AKID") {
			t.Errorf("printed as %s, want the access key but not the secret", printed)
		}
	}
	if bytes.Contains(encoded, []byte("hush")) {
		t.Errorf("encoded with its secret: %s", encoded)
	}
}

func TestNewRefusesBadConfig(t *testing.T) {
	for _, test := range []struct {
		name string
		cfg  bucket.Config
		want string
	}{
		{"no bucket", bucket.Config{}, "no bucket name"},
		{"half of the keys", bucket.Config{Bucket: "b", AccessKey: "a"}, "together"},
		{"parts too small", bucket.Config{Bucket: "b", AccessKey: "a", SecretKey: "s", PartSize: 1 << 20}, "part size"},
		{"negative attempts", bucket.Config{Bucket: "b", AccessKey: "a", SecretKey: "s", MaxAttempts: -1}, "attempts"},
		{"prefix that leaves the bucket", bucket.Config{Bucket: "b", AccessKey: "a", SecretKey: "s", Prefix: "../x"}, "prefix"},
		{"endpoint without scheme", bucket.Config{Bucket: "b", AccessKey: "a", SecretKey: "s", Endpoint: "localhost:9000"}, "endpoint"},
		{"endpoint with password", bucket.Config{Bucket: "b", AccessKey: "a", SecretKey: "s", Endpoint: "http://me:hush@localhost"}, "endpoint"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := bucket.New(t.Context(), test.cfg)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hush") {
				t.Errorf("New(%v): %v, want an error about %q", test.cfg, err, test.want)
			}
		})
	}
}

func TestKeysFromTheEnvironment(t *testing.T) {
	cfg := buckettest.Gateway(t).Config("lake")
	t.Setenv("AWS_ACCESS_KEY_ID", cfg.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", cfg.SecretKey)
	cfg.AccessKey, cfg.SecretKey = "", ""
	c := buckettest.Open(t, cfg)
	buckettest.Put(t, c, "k", "1")
}

func TestStoreThatIsDown(t *testing.T) {
	c, err := bucket.New(t.Context(), bucket.Config{
		Endpoint: "http://127.0.0.1:1", Bucket: "lake", AccessKey: "a", SecretKey: "hush", PathStyle: true, MaxAttempts: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Head(t.Context(), "k")
	if err == nil || !strings.Contains(err.Error(), "s3://lake/k") || !strings.Contains(err.Error(), "connection refused") ||
		strings.Contains(err.Error(), "hush") {
		t.Errorf("head with nothing listening: %v", err)
	}
}
