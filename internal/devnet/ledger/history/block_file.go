package history

import (
	"fmt"
	"os"
	"sort"
	"sync"

	"github.com/klauspost/compress/s2"
)

// blockBytes bounds a block before compression. Larger blocks pack little better and
// make single items dearer to read: one of this size unpacks in 30 µs.
const blockBytes = 128 << 10

// blockFile is a growing sequence of bytes that is kept in compressed blocks. History
// packs to a sixth, for about what it costs to copy it into the page cache as it is,
// and then neither the page cache nor the disk slows a large history down.
//
// Blocks may be written concurrently and in any order, once it is known where they go;
// they become readable by publish. What was published never changes.
type blockFile struct {
	file *os.File

	mu     sync.RWMutex
	blocks []block
	size   int64 // bytes that can be read
	packed int64 // bytes of the file they take
}

// block says where a run of bytes is.
type block struct {
	start, size int64 // of the bytes
	packedAt    int64 // in the file
	packedSize  int32
}

// packedBytes are bytes in compressed form, ready to be written. Offsets in blocks
// count from the start of data.
type packedBytes struct {
	data   []byte
	blocks []block
}

// pack compresses data.
func (p *packedBytes) pack(data []byte) {
	p.data, p.blocks = p.data[:0], p.blocks[:0]
	for start := 0; start < len(data); start += blockBytes {
		raw := data[start:min(len(data), start+blockBytes)]
		at, worst := len(p.data), s2.MaxEncodedLen(len(raw))
		if cap(p.data)-at < worst {
			p.data = append(make([]byte, 0, max(2*cap(p.data), at+worst)), p.data...)
		}
		packed := s2.Encode(p.data[at:at+worst], raw)
		p.data = p.data[:at+len(packed)]
		p.blocks = append(p.blocks, block{start: int64(start), size: int64(len(raw)),
			packedAt: int64(at), packedSize: int32(len(packed))})
	}
}

// write writes p at an offset of the file.
func (f *blockFile) write(p *packedBytes, at int64) error {
	if len(p.data) == 0 {
		return nil
	}
	if _, err := f.file.WriteAt(p.data, at); err != nil {
		return fmt.Errorf("writing %d bytes of history: %w", len(p.data), err)
	}
	return nil
}

// publish makes p readable, which was written behind all that is readable so far.
func (f *blockFile) publish(p *packedBytes) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range p.blocks {
		b.start, b.packedAt = f.size, f.packed+b.packedAt
		f.blocks = append(f.blocks, b)
		f.size += b.size
	}
	f.packed += int64(len(p.data))
}

// published returns the blocks that can be read, and the number of bytes in them.
func (f *blockFile) published() ([]block, int64) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.blocks, f.size
}

// BlockReader reads bytes of a blockFile. It keeps the block it read last, so that
// neighbours cost nothing. Not safe for concurrent use.
type BlockReader struct {
	source  *blockFile
	blocks  []block
	size    int64
	current int // index of the block in data, -1 without one
	data    []byte
	packed  []byte
}

// Open makes the reader read from f.
func (r *BlockReader) Open(f *blockFile) {
	r.source, r.current = f, -1
	r.blocks, r.size = f.published()
}

// Close lets go of the file, but keeps the buffers.
func (r *BlockReader) Close() { r.source, r.blocks = nil, nil }

// at returns the bytes from start to the end of their block. They are valid until the
// next call.
func (r *BlockReader) at(start int64) ([]byte, error) {
	if start >= r.size { // more was published since
		if r.blocks, r.size = r.source.published(); start >= r.size {
			return nil, fmt.Errorf("reading history at %d of %d bytes", start, r.size)
		}
	}
	if r.current < 0 || start < r.blocks[r.current].start || start >= r.blocks[r.current].start+r.blocks[r.current].size {
		if err := r.load(r.find(start)); err != nil {
			return nil, err
		}
	}
	return r.data[start-r.blocks[r.current].start:], nil
}

// find returns the index of the block that holds start; mostly the one after the current.
func (r *BlockReader) find(start int64) int {
	if next := r.current + 1; next > 0 && next < len(r.blocks) && start >= r.blocks[next].start &&
		start < r.blocks[next].start+r.blocks[next].size {
		return next
	}
	return sort.Search(len(r.blocks), func(i int) bool { return r.blocks[i].start > start }) - 1
}

func (r *BlockReader) load(i int) error {
	b := &r.blocks[i]
	r.current = -1
	if cap(r.packed) < int(b.packedSize) {
		r.packed = make([]byte, s2.MaxEncodedLen(blockBytes))
	}
	packed := r.packed[:b.packedSize]
	if _, err := r.source.file.ReadAt(packed, b.packedAt); err != nil {
		return fmt.Errorf("reading %d bytes of history: %w", len(packed), err)
	}
	if r.data == nil {
		r.data = make([]byte, blockBytes)
	}
	data, err := s2.Decode(r.data[:cap(r.data)], packed)
	if err != nil {
		return fmt.Errorf("unpacking %d bytes of history at %d: %w", b.size, b.start, err)
	}
	r.data, r.current = data, i
	return nil
}

// Append appends size bytes from start to dst.
func (r *BlockReader) Append(dst []byte, start, size int64) ([]byte, error) {
	for size > 0 {
		data, err := r.at(start)
		if err != nil {
			return dst, err
		}
		n := min(size, int64(len(data)))
		dst = append(dst, data[:n]...)
		start, size = start+n, size-n
	}
	return dst, nil
}
