package pages

import (
	"bytes"
	"runtime"
	"slices"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

const (
	// renderRun is the fewest rows that are worth a goroutine of their own.
	renderRun = 64
	// renderMost bounds how many render one page: other requests want processors, too.
	renderMost = 4
	// renderSlack is the part by which a page may exceed its expected size before it is
	// moved to larger memory.
	renderSlack = 8
)

// Buffers pools memory, as *[]byte, for what is rendered apart from an answer.
var Buffers = sync.Pool{New: func() any { return new([]byte) }}

// render appends rows separated by commas, about size bytes each. Runs of many rows are
// written side by side, so write must be safe for concurrent use.
func render[R any](dst []byte, rows []R, size int64, write func(dst []byte, row *R) []byte) []byte {
	runs := slices.Collect(slices.Chunk(rows, max(renderRun, (len(rows)+workers()-1)/workers())))
	if len(runs) == 0 {
		return dst
	}
	dst = slices.Grow(dst, len(rows)*int(size+size/renderSlack))
	rest := make([]*[]byte, len(runs)-1)
	group := guard.NewGroup()
	for i, run := range runs[1:] {
		group.Go(func() error {
			rest[i] = Buffers.Get().(*[]byte)
			*rest[i] = renderRows((*rest[i])[:0], run, size, write)
			return nil
		})
	}
	dst = renderRows(dst, runs[0], size, write)
	if err := group.Wait(); err != nil {
		panic(err) // of write: the request fails with it
	}
	for _, part := range rest {
		dst = append(append(dst, ','), *part...)
		Buffers.Put(part)
	}
	return dst
}

func workers() int { return min(runtime.GOMAXPROCS(0), renderMost) }

func renderRows[R any](dst []byte, rows []R, size int64, write func(dst []byte, row *R) []byte) []byte {
	dst = slices.Grow(dst, len(rows)*int(size))
	for i := range rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = write(dst, &rows[i])
	}
	return dst
}

// Rendered returns one row in memory of just its size, to be kept.
func Rendered[R any](row *R, write func(dst []byte, row *R) []byte) []byte {
	buf := Buffers.Get().(*[]byte)
	defer Buffers.Put(buf)
	*buf = write((*buf)[:0], row)
	return bytes.Clone(*buf)
}
