package bucket_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
)

func ensureBucketTwice(t *testing.T, cfg bucket.Config) {
	c := buckettest.Open(t, cfg)
	if err := c.EnsureBucket(t.Context()); err != nil {
		t.Errorf("second EnsureBucket: %v", err)
	}
}

// put stores content as plain bytes.
func put(t testing.TB, c *bucket.Client, key, content string) error {
	return c.Put(t.Context(), key, strings.NewReader(content), int64(len(content)),
		sha256.Sum256([]byte(content)), "application/octet-stream")
}

func putTwiceSameBytes(t *testing.T, cfg bucket.Config) {
	c := buckettest.Open(t, cfg)
	buckettest.Put(t, c, "updates/v1/part-00000.parquet", "same bytes")
	first := head(t, c, "updates/v1/part-00000.parquet")
	buckettest.Put(t, c, "updates/v1/part-00000.parquet", "same bytes")
	second := head(t, c, "updates/v1/part-00000.parquet")
	if first.ETag != second.ETag || first.SHA256 != second.SHA256 {
		t.Errorf("after the same put twice: tag %s and sum %x, then %s and %x",
			first.ETag, first.SHA256, second.ETag, second.SHA256)
	}
}

func putReplaces(t *testing.T, cfg bucket.Config) {
	c := buckettest.Open(t, cfg)
	buckettest.Put(t, c, "manifest.json", "old")
	buckettest.Put(t, c, "manifest.json", "new and longer")
	if got := get(t, c, "manifest.json", 0, -1); got != "new and longer" {
		t.Errorf("after replacing: got %q", got)
	}
}

func putKeepsDescription(t *testing.T, cfg bucket.Config) {
	c := buckettest.Open(t, cfg)
	content := "[1,2,3]"
	sum := sha256.Sum256([]byte(content))
	before := time.Now().Add(-2 * time.Second) // stores round to seconds
	err := c.Put(t.Context(), "a b/ü+&.json", strings.NewReader(content), int64(len(content)), sum, "application/json")
	if err != nil {
		t.Fatal(err)
	}
	o := head(t, c, "a b/ü+&.json")
	if o.Key != "a b/ü+&.json" || o.Size != 7 || o.SHA256 != sum || o.ContentType != "application/json" ||
		o.ETag == "" || strings.Contains(o.ETag, `"`) || o.Modified.Before(before) {
		t.Errorf("head describes the object as %+v", o)
	}
	r := open(t, c, "a b/ü+&.json", 2, 4)
	if got := r.Object; got != o {
		t.Errorf("get describes the object as %+v, head as %+v", got, o)
	}
}

func emptyObject(t *testing.T, cfg bucket.Config) {
	c := buckettest.Open(t, cfg)
	buckettest.Put(t, c, "empty", "")
	if o := head(t, c, "empty"); o.Size != 0 || o.SHA256 != sha256.Sum256(nil) {
		t.Errorf("head describes an empty object as %+v", o)
	}
	if got := get(t, c, "empty", 0, -1); got != "" {
		t.Errorf("content of an empty object: %q", got)
	}
}

func deleteIsRepeatable(t *testing.T, cfg bucket.Config) {
	c := buckettest.Open(t, cfg)
	buckettest.Put(t, c, "x/y/z", "1")
	for range 2 {
		if err := c.Delete(t.Context(), "x/y/z"); err != nil {
			t.Fatal(err)
		}
	}
	wantMissing(t, c, "x/y/z")
}

// race has n writers put another content each under one key and returns who won.
func race(t *testing.T, c *bucket.Client, key string, contents []string) []int {
	t.Helper()
	errs := make([]error, len(contents))
	var writers sync.WaitGroup
	for i, content := range contents {
		writers.Go(func() {
			errs[i] = c.PutIfAbsent(t.Context(), key, strings.NewReader(content), int64(len(content)),
				sha256.Sum256([]byte(content)), "")
		})
	}
	writers.Wait()
	var winners []int
	for i, err := range errs {
		switch {
		case err == nil:
			winners = append(winners, i)
		case !errors.Is(err, bucket.ErrExists):
			t.Errorf("writer %d: %v, want ErrExists", i, err)
		}
	}
	return winners
}

func putIfAbsentHasOneWinner(t *testing.T, cfg bucket.Config) {
	c := buckettest.Open(t, cfg)
	contents := make([]string, 16)
	for i := range contents {
		contents[i] = strings.Repeat(string(rune('a'+i)), 1000)
	}
	winners := race(t, c, "catalog/v7.json", contents)
	if len(winners) != 1 {
		t.Fatalf("%d of 16 writers won: %v", len(winners), winners)
	}
	if got := get(t, c, "catalog/v7.json", 0, -1); got != contents[winners[0]] {
		t.Errorf("writer %d won but the object is not its content", winners[0])
	}
}

func putIfAbsentInPartsHasOneWinner(t *testing.T, cfg bucket.Config) {
	cfg.PartSize = bucket.MinPartSize
	c := buckettest.Open(t, cfg)
	contents := make([]string, 3)
	for i := range contents {
		contents[i] = string(noise(bucket.MinPartSize+1000, uint64(i)))
	}
	winners := race(t, c, "big", contents)
	if len(winners) != 1 {
		t.Fatalf("%d of %d writers won: %v", len(winners), len(contents), winners)
	}
	if got := get(t, c, "big", 0, -1); got != contents[winners[0]] {
		t.Errorf("writer %d won but the object is not its content", winners[0])
	}
	wantNoUploads(t, cfg)
}

func putIfAbsentSurvivesLostReply(t *testing.T, cfg bucket.Config) {
	buckettest.Open(t, cfg)
	faults := newFaultProxy(t, cfg.Endpoint)
	cfg.Endpoint = faults.URL
	c := buckettest.Open(t, cfg)
	faults.loseReply(func(r *http.Request) bool { return r.Method == http.MethodPut })
	if err := c.PutIfAbsent(t.Context(), "k", strings.NewReader("mine"), 4, sha256.Sum256([]byte("mine")), ""); err != nil {
		t.Errorf("our own write, its first reply lost: %v", err)
	}
	if faults.lost.Load() != 1 {
		t.Fatalf("%d replies were lost, want 1", faults.lost.Load())
	}
	err := c.PutIfAbsent(t.Context(), "k", strings.NewReader("other"), 5, sha256.Sum256([]byte("other")), "")
	if !errors.Is(err, bucket.ErrExists) {
		t.Errorf("another's write: %v, want ErrExists", err)
	}
}

// openBehindProxy returns a client that sends objects in small parts, through a proxy.
func openBehindProxy(t *testing.T, cfg bucket.Config) (*bucket.Client, *faultProxy) {
	t.Helper()
	proxy := newFaultProxy(t, cfg.Endpoint)
	cfg.Endpoint, cfg.PartSize = proxy.URL, bucket.MinPartSize
	return buckettest.Open(t, cfg), proxy
}

func partsSurviveLostReply(t *testing.T, cfg bucket.Config) {
	c, faults := openBehindProxy(t, cfg)
	content := noise(bucket.MinPartSize*2, 1)
	faults.loseReply(isCompletion)
	err := c.Put(t.Context(), "k", bytes.NewReader(content), int64(len(content)), sha256.Sum256(content), "")
	if err != nil {
		t.Errorf("reply to the completion lost: %v", err)
	}
	if faults.lost.Load() != 1 {
		t.Fatalf("%d replies were lost, want 1", faults.lost.Load())
	}
	if o := head(t, c, "k"); o.SHA256 != sha256.Sum256(content) {
		t.Errorf("stored as %+v", o)
	}
	wantNoUploads(t, cfg)
}

// isCompletion picks the request that completes an upload in parts.
func isCompletion(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
}

// refusedCompletionIsRepeated has the store fail to complete an upload, several times.
func refusedCompletionIsRepeated(t *testing.T, cfg bucket.Config) {
	c, proxy := openBehindProxy(t, cfg)
	content := noise(bucket.MinPartSize*2, 2)
	proxy.refuse(3, http.StatusInternalServerError, isCompletion)
	if err := c.Put(t.Context(), "k", bytes.NewReader(content), int64(len(content)), sha256.Sum256(content), ""); err != nil {
		t.Errorf("a completion that fails three times: %v", err)
	}
	if got := get(t, c, "k", 0, -1); got != string(content) {
		t.Errorf("other bytes are stored: %d of %d", len(got), len(content))
	}
	proxy.refuse(1000, http.StatusInternalServerError, isCompletion)
	if err := c.Put(t.Context(), "l", bytes.NewReader(content), int64(len(content)), sha256.Sum256(content), ""); err == nil {
		t.Error("a completion that always fails was no error")
	}
	wantMissing(t, c, "l")
	wantNoUploads(t, cfg)
}

// expiredUploadIsBegunAgain has an upload removed before it is completed, as a store's rule for
// old uploads does, and then each one.
func expiredUploadIsBegunAgain(t *testing.T, cfg bucket.Config) {
	c, proxy := openBehindProxy(t, cfg)
	content := noise(bucket.MinPartSize*2, 3)
	expire := func() { abortUploads(t, cfg) }
	proxy.before(isCompletion, expire)
	if err := c.PutIfAbsent(t.Context(), "k", bytes.NewReader(content), int64(len(content)), sha256.Sum256(content), ""); err != nil {
		t.Errorf("an upload that expired: %v", err)
	}
	if got := get(t, c, "k", 0, -1); got != string(content) {
		t.Errorf("other bytes are stored: %d of %d", len(got), len(content))
	}
	proxy.meet.Load().left.Store(1000)
	if err := c.PutIfAbsent(t.Context(), "l", bytes.NewReader(content), int64(len(content)), sha256.Sum256(content), ""); err == nil {
		t.Error("uploads that all expire were no error")
	}
	wantMissing(t, c, "l")
	wantNoUploads(t, cfg)
}

func wrongSumIsErrChecksum(t *testing.T, cfg bucket.Config) {
	cfg.PartSize = bucket.MinPartSize
	c := buckettest.Open(t, cfg)
	for _, size := range []int{0, 10, bucket.MinPartSize + 10} {
		err := c.Put(t.Context(), "k", bytes.NewReader(make([]byte, size)), int64(size), sha256.Sum256([]byte("other")), "")
		if !errors.Is(err, bucket.ErrChecksum) {
			t.Errorf("%d bytes with a wrong sum: %v, want ErrChecksum", size, err)
		}
		wantMissing(t, c, "k")
	}
	wantNoUploads(t, cfg)
}

func wrongSizeIsRefused(t *testing.T, cfg bucket.Config) {
	c := buckettest.Open(t, cfg)
	for _, size := range []int64{2, 4} {
		if err := c.Put(t.Context(), "k", strings.NewReader("abc"), size, sha256.Sum256([]byte("abc")), ""); err == nil {
			t.Errorf("3 bytes given as %d were stored", size)
		}
		wantMissing(t, c, "k")
	}
}

func badKeysAreRefused(t *testing.T, cfg bucket.Config) {
	c := buckettest.Open(t, cfg)
	for _, key := range []string{"", "/a", "a/", "a//b", "../a", "a/./b", "a\nb", "a\xff", strings.Repeat("x", 1025)} {
		if err := put(t, c, key, "1"); err == nil {
			t.Errorf("key %q was accepted", key)
		}
	}
}

func multipartKeepsWholeSum(t *testing.T, cfg bucket.Config) {
	cfg.PartSize = bucket.MinPartSize
	c := buckettest.Open(t, cfg)
	content := noise(20<<20, 7)
	sum := sha256.Sum256(content)
	body := &countingBody{ReadSeeker: bytes.NewReader(content)}
	if err := c.Put(t.Context(), "big.parquet", body, int64(len(content)), sum, "application/vnd.apache.parquet"); err != nil {
		t.Fatal(err)
	}
	if body.read.Load() != int64(len(content)) {
		t.Errorf("%d bytes were read to store %d", body.read.Load(), len(content))
	}
	o := head(t, c, "big.parquet")
	if o.Size != 20<<20 || o.SHA256 != sum || o.ContentType != "application/vnd.apache.parquet" {
		t.Errorf("stored as %+v, want sum %x", o, sum)
	}
	if got := get(t, c, "big.parquet", 0, -1); got != string(content) {
		t.Error("the content that was read differs from the one stored")
	}
	if got := get(t, c, "big.parquet", 5<<20-3, 5<<20+3); got != string(content[5<<20-3:5<<20+3]) {
		t.Errorf("range across two parts: %x", got)
	}
	wantNoUploads(t, cfg)
}

func cancelledUploadLeavesNothing(t *testing.T, cfg bucket.Config) {
	cfg.PartSize = bucket.MinPartSize
	c := buckettest.Open(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	content := make([]byte, 12<<20)
	body := &countingBody{ReadSeeker: bytes.NewReader(content), at: 6 << 20, do: cancel}
	err := c.Put(ctx, "k", body, int64(len(content)), sha256.Sum256(content), "")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled put: %v, want context.Canceled", err)
	}
	wantMissing(t, c, "k")
	wantNoUploads(t, cfg)
}

// countingBody counts the bytes read and calls do once when at bytes were.
type countingBody struct {
	io.ReadSeeker
	read atomic.Int64
	at   int64
	do   func()
	once sync.Once
}

func (b *countingBody) Read(p []byte) (int, error) {
	n, err := b.ReadSeeker.Read(p)
	if read := b.read.Add(int64(n)); b.do != nil && read >= b.at {
		b.once.Do(b.do)
	}
	return n, err
}

// noise returns size bytes that depend on seed only.
func noise(size int, seed uint64) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(seed)}).Read(b) // cannot fail
	return b
}
