package export

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestNetworkLayoutHoldsTheSameRows decodes the JSON lines and compares their digests
// with those of the Parquet tables.
func TestNetworkLayoutHoldsTheSameRows(t *testing.T) {
	src := twoMigrations(31, 100)
	e := newTestExporter(t, src, openMemory(nil), &memoryCatalog{}, nil)
	files := make(map[string]*bytes.Buffer)
	var mu sync.Mutex
	sizes, err := e.NetworkLayout(t.Context(), func(ref schemas.SegmentRef, table schemas.ParquetTable) (io.Writer, error) {
		mu.Lock()
		defer mu.Unlock()
		file := new(bytes.Buffer)
		files[fmt.Sprintf("%s/%s", table, ref)] = file
		return file, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var stored int64
	var lines schemas.Digest
	for name, file := range files {
		stored += int64(file.Len())
		for line := range jsonLines(t, file) {
			if name[:3] == "upd" {
				lines.Add(line)
			}
		}
	}
	want := wantDigests(t, e, src)
	if lines != want["updates"] {
		t.Errorf("the lines hold %s, the source %s", lines, want["updates"])
	}
	if sizes.Updates.Rows != int64(want["updates"].Rows) || sizes.ACS.Rows != int64(want["acs"].Rows) {
		t.Errorf("counted %+v, want %d updates and %d contracts", sizes, want["updates"].Rows, want["acs"].Rows)
	}
	if got := sizes.Updates.ZstdBytes + sizes.ACS.ZstdBytes; got != stored || sizes.Updates.JSONBytes <= sizes.Updates.ZstdBytes {
		t.Errorf("counted %d compressed bytes of %d that were written; %+v", got, stored, sizes)
	}
}

func jsonLines(t *testing.T, file io.Reader) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		decoder, err := zstd.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		defer decoder.Close()
		lines := bufio.NewScanner(decoder)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			if !yield(lines.Bytes()) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			t.Error(err)
		}
	}
}

func TestFramesCloseByCompressedSize(t *testing.T) {
	var size NetworkSize
	var out bytes.Buffer
	w, err := newFrameWriter(&out, &size)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.end(); err != nil || out.Len() > 0 {
		t.Errorf("no lines make %d bytes, %v", out.Len(), err)
	}
	g := newGenerator(1)
	line := []byte(g.hex(1<<19) + "\n") // about half of it is left after compression
	for range 40 {
		if err := w.writeLine(line); err != nil {
			t.Fatal(err)
		}
		line = append(line[1:len(line)-1], line[0], '\n') // rotated, and still far apart for zstd
		copy(line, g.hex(1<<18))
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	if size.Frames < 2 || size.ZstdBytes != int64(out.Len()) || size.ZstdBytes < (size.Frames-1)*networkFrameBytes {
		t.Errorf("%+v for %d bytes", size, out.Len())
	}
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	if !bytes.HasPrefix(out.Bytes(), magic) {
		t.Errorf("the output begins with %x, not with a zstd frame", out.Bytes()[:4])
	}
	n := 0
	for range jsonLines(t, &out) {
		n++
	}
	if n != 40 {
		t.Errorf("%d of 40 lines came back", n)
	}
}
