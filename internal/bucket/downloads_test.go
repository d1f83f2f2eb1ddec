package bucket_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
)

// TestDownloadsThroughStore reads as from any S3.
func TestDownloadsThroughStore(t *testing.T) {
	t.Parallel()
	runDownloads(t, shelvesOf(buckettest.Gateway(t), false))
}

// TestDownloadsFromFolder reads the gateway's files.
func TestDownloadsFromFolder(t *testing.T) {
	t.Parallel()
	runDownloads(t, shelvesOf(buckettest.Gateway(t), true))
}

// shelvesOf gives each call another bucket of g, with a prefix.
func shelvesOf(g *bucket.Gateway, direct bool) func(*testing.T) shelf {
	var n atomic.Int64
	return func(t *testing.T) shelf {
		cfg := g.Config(fmt.Sprintf("bucket-%d", n.Add(1)))
		cfg.Prefix = "mainnet/"
		s := shelf{Client: buckettest.Open(t, cfg), Files: g.Folder(cfg.Bucket) + "/mainnet"}
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

// shelf is a bucket of which the tests of runDownloads can reach the files.
type shelf struct {
	Client *bucket.Client
	// Files is the folder with the bucket's objects, as the store keeps them.
	Files string
	// Open returns downloads from the bucket that go by a clock.
	Open func(now func() time.Time) *bucket.Downloads
}

// runDownloads checks the contract of bucket.Downloads, however they reach the objects. open
// returns an empty bucket, another one for each call.
func runDownloads(t *testing.T, open func(t *testing.T) shelf) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s shelf)
	}{
		{"DownloadRanges", downloadRanges},
		{"DownloadOfEmptyObject", downloadOfEmptyObject},
		{"DownloadOfMissingObject", downloadOfMissingObject},
		{"DownloadStaysInsideBucket", downloadStaysInsideBucket},
		{"DownloadOfDamagedObject", downloadOfDamagedObject},
		{"DownloadChecksAgainInTime", downloadChecksAgainInTime},
		{"DownloadOfOtherObject", downloadOfOtherObject},
		{"DownloadBesideReplacement", downloadBesideReplacement},
		{"ManyDownloadsAtOnce", manyDownloadsAtOnce},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

// publish stores an object and describes it.
func (s shelf) publish(t *testing.T, key, content string) bucket.Wanted {
	t.Helper()
	buckettest.Put(t, s.Client, key, content)
	return wanted(key, content)
}

func wanted(key, content string) bucket.Wanted {
	return bucket.Wanted{Key: key, Size: int64(len(content)), SHA256: sha256.Sum256([]byte(content))}
}

// damage changes the file of an object behind the store's back.
func (s shelf) damage(t *testing.T, key string, change func(file *os.File) error) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(s.Files, filepath.FromSlash(key)), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(change(file), file.Close()); err != nil {
		t.Fatal(err)
	}
}

// download reads a range; the error is that of opening, reading or closing.
func download(t *testing.T, d *bucket.Downloads, o bucket.Wanted, from, to int64) (string, error) {
	t.Helper()
	stream, err := d.Open(t.Context(), o, from, to)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(stream)
	return string(content), errors.Join(err, stream.Close())
}

func wantDownload(t *testing.T, d *bucket.Downloads, o bucket.Wanted, from, to int64, want string) {
	t.Helper()
	if got, err := download(t, d, o, from, to); err != nil || got != want {
		t.Errorf("bytes %d to %d of %s: %d bytes, %v; want %d", from, to, o.Key, len(got), err, len(want))
	}
}

// wantDamaged makes sure that nobody takes an object for whole.
func wantDamaged(t *testing.T, d *bucket.Downloads, o bucket.Wanted, what string) {
	t.Helper()
	if got, err := download(t, d, o, 0, o.Size); !errors.Is(err, bucket.ErrChecksum) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%s: %d bytes, %v; want an error that says so", what, len(got), err)
	}
}

func downloadRanges(t *testing.T, s shelf) {
	content := string(noise(700_000, 8))
	o := s.publish(t, "updates/v1/date=2026-07-01/part-00000.parquet", content)
	d := s.Open(time.Now)
	for range 2 { // the second time it is known to be good
		for _, r := range [][2]int64{{0, o.Size}, {0, 1}, {1, o.Size}, {o.Size - 1, o.Size}, {100, 600_000}, {5, 5}, {o.Size, o.Size}} {
			wantDownload(t, d, o, r[0], r[1], content[r[0]:r[1]])
			var copied bytes.Buffer
			stream, err := d.Open(t.Context(), o, r[0], r[1])
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(&copied, stream)
			if err := errors.Join(err, stream.Close()); err != nil || n != r[1]-r[0] || copied.String() != content[r[0]:r[1]] {
				t.Errorf("copying bytes %d to %d: %d, %v", r[0], r[1], n, err)
			}
		}
	}
	for _, r := range [][2]int64{{-1, 5}, {5, 4}, {0, o.Size + 1}, {o.Size + 1, o.Size + 1}} {
		if _, err := d.Open(t.Context(), o, r[0], r[1]); !errors.Is(err, bucket.ErrRange) {
			t.Errorf("bytes %d to %d of %d: %v, want ErrRange", r[0], r[1], o.Size, err)
		}
	}
}

func downloadOfEmptyObject(t *testing.T, s shelf) {
	o := s.publish(t, "empty", "")
	d := s.Open(time.Now)
	wantDownload(t, d, o, 0, 0, "")
	wantDownload(t, d, o, 0, 0, "")
}

func downloadOfMissingObject(t *testing.T, s shelf) {
	s.publish(t, "folder/object", "content")
	d := s.Open(time.Now)
	for _, key := range []string{"none", "none/at/all", "folder"} {
		if _, err := d.Open(t.Context(), wanted(key, "content"), 0, 7); !errors.Is(err, bucket.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", key, err)
		}
	}
	o := s.publish(t, "gone", "content")
	wantDownload(t, d, o, 0, 7, "content")
	if err := s.Client.Delete(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Open(t.Context(), o, 0, 7); !errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("an object that was deleted: %v, want ErrNotFound", err)
	}
}

// downloadStaysInsideBucket asks for a file beside the bucket, by its name and by a link.
func downloadStaysInsideBucket(t *testing.T, s shelf) {
	s.publish(t, "folder/object", "content")
	d := s.Open(time.Now)
	secret := filepath.Join(filepath.Dir(s.Files), "secret")
	if err := os.WriteFile(secret, []byte("secret!"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(s.Files, "folder", "link")); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"../secret", "folder/../../secret", "/secret", secret, "./folder/object", "folder//object", "folder\x00/object", ""} {
		if got, err := download(t, d, wanted(key, "secret!"), 0, 7); err == nil {
			t.Errorf("key %q gives %q", key, got)
		}
	}
	// A store may follow links in its own folder; with files of our own we do not.
	if stream, err := d.Open(t.Context(), wanted("folder/link", "secret!"), 0, 7); err == nil {
		if _, direct := stream.(io.WriterTo); direct {
			t.Error("a link out of the folder was followed")
		}
		_ = stream.Close()
	}
}

func downloadOfDamagedObject(t *testing.T, s shelf) {
	content := string(noise(300_000, 9))
	for _, test := range []struct {
		name   string
		change func(file *os.File) error
	}{
		{"a byte is another", func(f *os.File) error { _, err := f.WriteAt([]byte{content[200_000] ^ 1}, 200_000); return err }},
		{"the end is missing", func(f *os.File) error { return f.Truncate(299_999) }},
		{"there is more", func(f *os.File) error { return f.Truncate(300_001) }},
		{"it is empty", func(f *os.File) error { return f.Truncate(0) }},
	} {
		key := "objects/" + strings.ReplaceAll(test.name, " ", "-")
		o := s.publish(t, key, content)
		s.damage(t, key, test.change)
		d := s.Open(time.Now)
		wantDamaged(t, d, o, test.name)
		wantDamaged(t, d, o, test.name+", the second time")
		s.publish(t, key, content) // repaired
		wantDownload(t, d, o, 0, o.Size, content)
	}
}

// downloadChecksAgainInTime damages an object without a trace in the file's time.
func downloadChecksAgainInTime(t *testing.T, s shelf) {
	now := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	d := s.Open(func() time.Time { return now })
	content := string(noise(100_000, 10))
	o := s.publish(t, "object", content)
	wantDownload(t, d, o, 0, o.Size, content)
	s.damage(t, "object", func(f *os.File) error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		_, err = f.WriteAt([]byte{content[5] ^ 1}, 5)
		return errors.Join(err, os.Chtimes(f.Name(), info.ModTime(), info.ModTime()))
	})
	now = now.Add(time.Hour)
	wantDamaged(t, d, o, "an hour later")
}

// downloadOfOtherObject stores other objects of the same size under a key.
func downloadOfOtherObject(t *testing.T, s shelf) {
	d := s.Open(time.Now)
	first := s.publish(t, "key", "content 1")
	wantDownload(t, d, first, 0, 9, "content 1")
	second := s.publish(t, "key", "content 2")
	wantDownload(t, d, second, 0, 9, "content 2")
	wantDamaged(t, d, first, "an object that was replaced")
	if got, err := download(t, d, first, 3, 5); !errors.Is(err, bucket.ErrChecksum) {
		t.Errorf("a range of an object that was replaced: %q, %v; want ErrChecksum", got, err)
	}
	wantDownload(t, d, second, 0, 9, "content 2")
}

// downloadBesideReplacement replaces an object that is being read: it is read to its end, or
// cut off, but never mixed.
func downloadBesideReplacement(t *testing.T, s shelf) {
	content := string(noise(8<<20, 11))
	o := s.publish(t, "key", content)
	d := s.Open(time.Now)
	stream, err := d.Open(t.Context(), o, 0, o.Size)
	if err != nil {
		t.Fatal(err)
	}
	begin := make([]byte, 1000)
	if _, err := io.ReadFull(stream, begin); err != nil {
		t.Fatal(err)
	}
	s.publish(t, "key", string(noise(8<<20, 12)))
	rest, err := io.ReadAll(stream)
	if got := string(begin) + string(rest); err == nil && got != content {
		t.Errorf("%d bytes that are not those of the object that was opened", len(got))
	}
	_ = stream.Close()
}

func manyDownloadsAtOnce(t *testing.T, s shelf) {
	content := string(noise(400_000, 13))
	good := s.publish(t, "good", content)
	bad := s.publish(t, "bad", content)
	s.damage(t, "bad", func(f *os.File) error { _, err := f.WriteAt([]byte{content[7] ^ 1}, 7); return err })
	d := s.Open(time.Now)
	var running sync.WaitGroup
	var whole, damaged atomic.Int64
	for i := range 40 {
		running.Go(func() {
			o := good
			if i%2 == 1 {
				o = bad
			}
			stream, err := d.Open(t.Context(), o, 0, o.Size)
			if err != nil {
				damaged.Add(1)
				return
			}
			got, err := io.ReadAll(stream)
			switch err := errors.Join(err, stream.Close()); {
			case err != nil:
				damaged.Add(1)
			case string(got) == content:
				whole.Add(1)
			}
		})
	}
	running.Wait()
	if whole.Load() != 20 || damaged.Load() != 20 {
		t.Errorf("of 20 good and 20 bad objects %d were whole and %d were refused", whole.Load(), damaged.Load())
	}
}
