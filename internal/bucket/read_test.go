package bucket_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
)

func missingIsErrNotFound(t *testing.T, cfg bucket.Config) {
	c := buckettest.Open(t, cfg)
	wantMissing(t, c, "no/such/object")
	_, err := c.Get(t.Context(), "no/such/object", 5, 5)
	if !errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("empty range of a missing object: %v, want ErrNotFound", err)
	}
	_, err = c.Get(t.Context(), "no/such/object", 0, -1)
	if want := fmt.Sprintf("s3://%s/no/such/object", cfg.Bucket); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not name %s", err, want)
	}
}

func missingBucketIsErrNoBucket(t *testing.T, cfg bucket.Config) {
	c, err := bucket.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), "k", 0, -1); !errors.Is(err, bucket.ErrNoBucket) || errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("get: %v, want ErrNoBucket only", err)
	}
	if err := put(t, c, "k", "1"); !errors.Is(err, bucket.ErrNoBucket) {
		t.Errorf("put: %v, want ErrNoBucket", err)
	}
	if _, err := c.List(t.Context(), "", "", 10); !errors.Is(err, bucket.ErrNoBucket) {
		t.Errorf("list: %v, want ErrNoBucket", err)
	}
}

func ranges(t *testing.T, cfg bucket.Config) {
	c := buckettest.Open(t, cfg)
	buckettest.Put(t, c, "k", "0123456789")
	for _, test := range []struct {
		name     string
		from, to int64
		want     string
		err      error
	}{
		{"all", 0, -1, "0123456789", nil},
		{"all by its size", 0, 10, "0123456789", nil},
		{"more than there is", 0, 99, "0123456789", nil},
		{"one byte", 4, 5, "4", nil},
		{"first byte", 0, 1, "0", nil},
		{"last byte", 9, 10, "9", nil},
		{"to the end", 7, -1, "789", nil},
		{"past the end", 7, 99, "789", nil},
		{"nothing", 3, 3, "", nil},
		{"nothing at the end", 10, 10, "", nil},
		{"begins at the end", 10, -1, "", bucket.ErrRange},
		{"nothing behind the end", 11, 11, "", bucket.ErrRange},
		{"begins behind the end", 11, 12, "", bucket.ErrRange},
		{"backwards", 5, 4, "", bucket.ErrRange},
		{"negative", -1, 4, "", bucket.ErrRange},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := c.Get(t.Context(), "k", test.from, test.to)
			if !errors.Is(err, test.err) || (test.err == nil && err != nil) {
				t.Fatalf("Get(%d, %d): error %v, want %v", test.from, test.to, err, test.err)
			}
			if err != nil {
				return
			}
			defer r.Close()
			got, err := io.ReadAll(r)
			if err != nil || string(got) != test.want {
				t.Errorf("Get(%d, %d) = %q, %v, want %q", test.from, test.to, got, err, test.want)
			}
			if r.Object.Size != 10 || r.From != test.from || r.To != test.from+int64(len(test.want)) {
				t.Errorf("Get(%d, %d) says bytes %d to %d of %d", test.from, test.to, r.From, r.To, r.Object.Size)
			}
		})
	}
}

func readResumesAfterBrokenConnection(t *testing.T, cfg bucket.Config) {
	faults := newFaultProxy(t, cfg.Endpoint)
	cfg.Endpoint = faults.URL
	c := buckettest.Open(t, cfg)
	content := string(noise(1<<20, 3))
	buckettest.Put(t, c, "k", content)
	for _, test := range []struct{ from, to int64 }{{0, -1}, {1000, 900_000}} {
		faults.cutBodies(2, 100_000)
		want := content[test.from:]
		if test.to >= 0 {
			want = content[test.from:test.to]
		}
		if got := get(t, c, "k", test.from, test.to); got != want {
			t.Errorf("bytes %d to %d over two broken connections differ from those stored", test.from, test.to)
		}
		if left := faults.cuts.Load(); left != 0 {
			t.Errorf("%d of 2 connections were not broken", left)
		}
	}
	faults.cutBodies(1000, 100_000)
	r := open(t, c, "k", 0, -1)
	if _, err := io.Copy(io.Discard, r); err == nil {
		t.Error("a read over connections that always break ended without an error")
	}
}

func readOfReplacedObjectIsErrChanged(t *testing.T, cfg bucket.Config) {
	direct := buckettest.Open(t, cfg)
	faults := newFaultProxy(t, cfg.Endpoint)
	cfg.Endpoint = faults.URL
	c := buckettest.Open(t, cfg)
	buckettest.Put(t, direct, "k", string(noise(1<<20, 4)))
	faults.cutBodies(1, 100_000)
	r := open(t, c, "k", 0, -1)
	buckettest.Put(t, direct, "k", string(noise(1<<20, 5)))
	if _, err := io.Copy(io.Discard, r); !errors.Is(err, bucket.ErrChanged) {
		t.Errorf("reading an object that was replaced meanwhile: %v, want ErrChanged", err)
	}
}

func listInPages(t *testing.T, cfg bucket.Config) {
	c := buckettest.Open(t, cfg)
	// '-' sorts before '/', so a walk over folders alone would get these wrong.
	keys := []string{"a-b", "a/b", "a/c/d", "a0", "date=2026-07-01/part-00000", "date=2026-07-01/part-00001", "date=2026-07-02/part-00000", "z"}
	for _, key := range keys {
		buckettest.Put(t, c, key, "content of "+key)
	}
	for _, limit := range []int{1, 3, 8, 1000} {
		if got := listAll(t, c, "", limit); !slices.Equal(got, keys) {
			t.Errorf("pages of %d: %v, want %v", limit, got, keys)
		}
	}
	if got := listAll(t, c, "date=2026-07-01/", 1); !slices.Equal(got, keys[4:6]) {
		t.Errorf("below a prefix: %v, want %v", got, keys[4:6])
	}
	if got := listAll(t, c, "date=2026-07-0", 10); !slices.Equal(got, keys[4:7]) {
		t.Errorf("below a prefix within a name: %v, want %v", got, keys[4:7])
	}
	page, err := c.List(t.Context(), "", "a/bb", 2)
	if err != nil || len(page.Objects) != 2 || page.Objects[0].Key != "a/c/d" || page.Next != "a0" {
		t.Errorf("after a key that does not exist: %+v, %v", page, err)
	}
	if page.Objects[0].Size != int64(len("content of a/c/d")) {
		t.Errorf("size of a listed object: %+v", page.Objects[0])
	}
	if _, err := c.List(t.Context(), "", "", 0); err == nil {
		t.Error("a limit of 0 was accepted")
	}
	var walked []string
	for o, err := range c.All(t.Context(), "a") {
		if err != nil {
			t.Fatal(err)
		}
		walked = append(walked, o.Key)
	}
	if !slices.Equal(walked, keys[:4]) {
		t.Errorf("walk: %v, want %v", walked, keys[:4])
	}
}

// listAll lists page by page and checks that each page but the last is full.
func listAll(t *testing.T, c *bucket.Client, prefix string, limit int) []string {
	t.Helper()
	var keys []string
	for after := ""; ; {
		page, err := c.List(t.Context(), prefix, after, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Objects {
			keys = append(keys, o.Key)
		}
		if page.Next == "" {
			return keys
		}
		if len(page.Objects) != limit {
			t.Errorf("a page of %d that is not the last holds %d", limit, len(page.Objects))
		}
		after = page.Next
	}
}

func prefixHidesTheRest(t *testing.T, cfg bucket.Config) {
	all := buckettest.Open(t, cfg)
	cfg.Prefix = "mainnet"
	main := buckettest.Open(t, cfg)
	cfg.Prefix = "testnet/"
	test := buckettest.Open(t, cfg)
	buckettest.Put(t, main, "k", "main")
	buckettest.Put(t, test, "k", "test")
	if got := get(t, main, "k", 0, -1) + get(t, test, "k", 0, -1); got != "maintest" {
		t.Errorf("contents below two prefixes: %q", got)
	}
	if got := listAll(t, main, "", 10); !slices.Equal(got, []string{"k"}) {
		t.Errorf("list below a prefix: %v", got)
	}
	if got := listAll(t, all, "", 10); !slices.Equal(got, []string{"mainnet/k", "testnet/k"}) {
		t.Errorf("list of the bucket: %v", got)
	}
}

func wrongSecretIsErrDenied(t *testing.T, cfg bucket.Config) {
	buckettest.Put(t, buckettest.Open(t, cfg), "k", "1")
	for name, wrong := range map[string]func(*bucket.Config){
		"wrong secret": func(c *bucket.Config) { c.SecretKey = "wrong-" + c.SecretKey },
		"unknown key":  func(c *bucket.Config) { c.AccessKey = "nobody" },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := cfg
			wrong(&cfg)
			c, err := bucket.New(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			for call, err := range denied(t.Context(), t, c) {
				if !errors.Is(err, bucket.ErrDenied) {
					t.Errorf("%s: %v, want ErrDenied", call, err)
				} else if strings.Contains(err.Error(), cfg.SecretKey) {
					t.Errorf("%s: the error holds the secret: %v", call, err)
				}
			}
		})
	}
}

// denied does one call of each kind and returns their errors.
func denied(ctx context.Context, t *testing.T, c *bucket.Client) map[string]error {
	_, headErr := c.Head(ctx, "k")
	_, getErr := c.Get(ctx, "k", 0, -1)
	_, listErr := c.List(ctx, "", "", 10)
	_, staleErr := c.AbortStaleUploads(ctx, 0)
	return map[string]error{
		"head": headErr, "get": getErr, "list": listErr, "stale uploads": staleErr,
		"put": put(t, c, "k", "2"), "delete": c.Delete(ctx, "k"), "bucket": c.EnsureBucket(ctx),
	}
}

func wantMissing(t *testing.T, c *bucket.Client, key string) {
	t.Helper()
	if _, err := c.Head(t.Context(), key); !errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("head of %s: %v, want ErrNotFound", key, err)
	}
	if _, err := c.Get(t.Context(), key, 0, -1); !errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("get of %s: %v, want ErrNotFound", key, err)
	}
}

func head(t *testing.T, c *bucket.Client, key string) bucket.Object {
	t.Helper()
	o, err := c.Head(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// open opens a range and closes it when the test ends.
func open(t *testing.T, c *bucket.Client, key string, from, to int64) *bucket.Reader {
	t.Helper()
	r, err := c.Get(t.Context(), key, from, to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func get(t *testing.T, c *bucket.Client, key string, from, to int64) string {
	t.Helper()
	content, err := io.ReadAll(open(t, c, key, from, to))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
