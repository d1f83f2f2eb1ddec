package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
)

// memoryObjects keeps objects in memory, for tests with very many runs. Get takes the
// way through a bucket, because only a bucket makes readers.
type memoryObjects struct {
	readers *bucket.Client
	mu      sync.Mutex
	objects map[string][]byte
}

// openMemory returns an empty memory.
func openMemory(readers *bucket.Client) *memoryObjects {
	return &memoryObjects{readers: readers, objects: make(map[string][]byte)}
}

func (m *memoryObjects) PutIfAbsent(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string) error {
	m.mu.Lock()
	_, there := m.objects[key]
	m.mu.Unlock()
	if there {
		return bucket.ErrExists
	}
	return m.Put(ctx, key, body, size, sum, contentType)
}

func (m *memoryObjects) Put(_ context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, _ string) error {
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return err
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if int64(len(data)) != size || sha256.Sum256(data) != sum {
		return bucket.ErrChecksum
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[key] = data
	return nil
}

// Get puts the bytes into the bucket and reads them from there.
func (m *memoryObjects) Get(ctx context.Context, key string, from, to int64) (*bucket.Reader, error) {
	m.mu.Lock()
	data, ok := m.objects[key]
	m.mu.Unlock()
	if !ok {
		return nil, bucket.ErrNotFound
	}
	if err := m.readers.Put(ctx, key, bytes.NewReader(data), int64(len(data)), sha256.Sum256(data), ""); err != nil {
		return nil, err
	}
	return m.readers.Get(ctx, key, from, to)
}

func (m *memoryObjects) Copy(_ context.Context, from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.objects[from]
	if !ok {
		return bucket.ErrNotFound
	}
	m.objects[to] = data
	return nil
}

func (m *memoryObjects) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, key)
	return nil
}

func (m *memoryObjects) sums() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	sums := make(map[string]string)
	for key, data := range m.objects {
		sums[key] = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	return sums
}

// TestObjectsContract holds the memory to what the exporter needs of a bucket, and the
// bucket to the same.
func TestObjectsContract(t *testing.T) {
	for name, objects := range map[string]Objects{"memory": openMemory(openBucket(t)), "bucket": openBucket(t)} {
		t.Run(name, func(t *testing.T) { testObjects(t, objects) })
	}
}

func testObjects(t *testing.T, objects Objects) {
	ctx := t.Context()
	put := func(write func(context.Context, string, io.ReadSeeker, int64, [32]byte, string) error, content string) error {
		return write(ctx, "a/b", strings.NewReader(content), int64(len(content)), sha256.Sum256([]byte(content)), "text/plain")
	}
	if _, err := objects.Get(ctx, "a/b", 0, -1); !errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("Get of a missing object: %v", err)
	}
	if err := put(objects.PutIfAbsent, "one"); err != nil {
		t.Error(err)
	}
	if err := put(objects.PutIfAbsent, "two"); !errors.Is(err, bucket.ErrExists) {
		t.Errorf("PutIfAbsent of a key that is there: %v", err)
	}
	holds := func(want string) {
		body, err := objects.Get(ctx, "a/b", 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(body)
		if err = errors.Join(err, body.Close()); err != nil || string(got) != want {
			t.Errorf("the object is %q, %v; want %q", got, err, want)
		}
	}
	holds("one")
	if err := put(objects.Put, "three"); err != nil {
		t.Error(err)
	}
	holds("three")
	if err := objects.Put(ctx, "a/b", strings.NewReader("x"), 1, sha256.Sum256([]byte("y")), ""); !errors.Is(err, bucket.ErrChecksum) {
		t.Errorf("Put with a wrong SHA-256: %v", err)
	}
	holds("three")
	if err := objects.Copy(ctx, "a/b", "c=1/d~e:%2F ü+.x"); err != nil {
		t.Error(err)
	}
	if err := errors.Join(put(objects.Put, "four"), objects.Copy(ctx, "c=1/d~e:%2F ü+.x", "a/b")); err != nil {
		t.Error(err)
	}
	holds("three")
	if err := objects.Copy(ctx, "a/none", "a/b"); !errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("copying a missing object: %v", err)
	}
	holds("three")
	if err := errors.Join(objects.Delete(ctx, "a/b"), objects.Delete(ctx, "a/b")); err != nil {
		t.Errorf("deleting twice: %v", err)
	}
}
