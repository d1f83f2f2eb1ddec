package export

import (
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

// memoryObjects keeps objects in memory, for tests with very many runs. Get is not
// among what it can do, because only a bucket makes readers.
type memoryObjects struct {
	discard
	mu      sync.Mutex
	objects map[string][]byte
}

func openMemory() *memoryObjects { return &memoryObjects{objects: make(map[string][]byte)} }

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

func (m *memoryObjects) Head(_ context.Context, key string) (bucket.Object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.objects[key]
	if !ok {
		return bucket.Object{}, bucket.ErrNotFound
	}
	return bucket.Object{Key: key, Size: int64(len(data)), SHA256: sha256.Sum256(data)}, nil
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
	for name, objects := range map[string]Objects{"memory": openMemory(), "bucket": openBucket(t)} {
		t.Run(name, func(t *testing.T) { testObjects(t, objects) })
	}
}

func testObjects(t *testing.T, objects Objects) {
	ctx := t.Context()
	put := func(write func(context.Context, string, io.ReadSeeker, int64, [32]byte, string) error, content string) error {
		return write(ctx, "a/b", strings.NewReader(content), int64(len(content)), sha256.Sum256([]byte(content)), "text/plain")
	}
	if _, err := objects.Head(ctx, "a/b"); !errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("Head of a missing object: %v", err)
	}
	if err := put(objects.PutIfAbsent, "one"); err != nil {
		t.Error(err)
	}
	if err := put(objects.PutIfAbsent, "two"); !errors.Is(err, bucket.ErrExists) {
		t.Errorf("PutIfAbsent of a key that is there: %v", err)
	}
	head := func(want string) {
		if got, err := objects.Head(ctx, "a/b"); err != nil || got.SHA256 != sha256.Sum256([]byte(want)) || got.Size != int64(len(want)) {
			t.Errorf("the object is %+v, %v; want %q", got, err, want)
		}
	}
	head("one")
	if err := put(objects.Put, "three"); err != nil {
		t.Error(err)
	}
	head("three")
	if err := objects.Put(ctx, "a/b", strings.NewReader("x"), 1, sha256.Sum256([]byte("y")), ""); !errors.Is(err, bucket.ErrChecksum) {
		t.Errorf("Put with a wrong SHA-256: %v", err)
	}
	head("three")
	if err := errors.Join(objects.Delete(ctx, "a/b"), objects.Delete(ctx, "a/b")); err != nil {
		t.Errorf("deleting twice: %v", err)
	}
}
