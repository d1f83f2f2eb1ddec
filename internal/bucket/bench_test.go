package bucket_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
)

func BenchmarkPut(b *testing.B) {
	c := buckettest.Open(b, buckettest.Gateway(b).Config("lake"))
	for _, size := range []int{1 << 10, 4 << 20, 64 << 20} {
		content := bytes.Repeat([]byte{1, 2, 3, 4}, size/4)
		sum := sha256.Sum256(content)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Put(b.Context(), "k", bytes.NewReader(content), int64(size), sum, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkGet(b *testing.B) {
	c := buckettest.Open(b, buckettest.Gateway(b).Config("lake"))
	for _, size := range []int{1 << 10, 64 << 20} {
		content := bytes.Repeat([]byte{1, 2, 3, 4}, size/4)
		key := fmt.Sprint(size)
		buckettest.Put(b, c, key, string(content))
		b.Run(key, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				r, err := c.Get(b.Context(), key, 0, -1)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, r); err != nil {
					b.Fatal(err)
				}
				_ = r.Close()
			}
		})
	}
}
