package network

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"testing"
)

func TestControlsAreEscaped(t *testing.T) {
	for line, want := range map[string]string{
		`{"a":"b"}`: `{"a":"b"}`, `"\u0001"`: `"\u0001"`, "\"\u007f\"": `"\u007f"`, "\"x\u0080y\u009f\u00a0é😀\"": `"x\u0080y\u009f` + "\u00a0é😀\"",
	} {
		if got := string(escapeControls([]byte(line))); got != want {
			t.Errorf("%q becomes %q, want %q", line, got, want)
		}
	}
}

func TestFramesCloseByCompressedSize(t *testing.T) {
	var size Size
	var out bytes.Buffer
	w, err := newFrameWriter(DefaultCut.FrameBytes)
	if err != nil {
		t.Fatal(err)
	}
	w.out, w.size = &out, &size
	if err := w.end(); err != nil || out.Len() > 0 {
		t.Errorf("no lines make %d bytes, %v", out.Len(), err)
	}
	random := rand.NewChaCha8([32]byte{1})
	digits := func(bytes int) string {
		b := make([]byte, bytes)
		_, _ = random.Read(b) // never fails
		return hex.EncodeToString(b)
	}
	line := []byte(digits(1<<19) + "\n") // about half of it is left after compression
	ended := int64(0)
	for range 40 {
		end, err := w.writeLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if end {
			ended++
		}
		line = append(line[1:len(line)-1], line[0], '\n') // rotated, and still far apart for zstd
		copy(line, digits(1<<18))
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	if size.Frames < 2 || ended != size.Frames-1 && ended != size.Frames || size.ZstdBytes != int64(out.Len()) ||
		size.ZstdBytes < (size.Frames-1)*DefaultCut.FrameBytes {
		t.Errorf("%+v for %d bytes, %d frames ended with a line", size, out.Len(), ended)
	}
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	if !bytes.HasPrefix(out.Bytes(), magic) {
		t.Errorf("the output begins with %x, not with a zstd frame", out.Bytes()[:4])
	}
	if n, err := countLines(&out); err != nil || n != 40 {
		t.Errorf("%d of 40 lines came back, %v", n, err)
	}
}
