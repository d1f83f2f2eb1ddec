package child

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	logLimit  = 8 << 20  // a log beyond this size is put aside at start
	tailBytes = 16 << 10 // how much of the log's end is looked at for an error
	tailLines = 6        // and how many lines of it a person gets to read
)

// log is the output of one run of a program within a file.
type log struct {
	path  string
	start int64 // where this run's output begins
}

// openLog opens the file at path for appending; one that has grown too long becomes path.1,
// replacing the one before.
func openLog(path string) (*os.File, log, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > logLimit {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, log{}, fmt.Errorf("rotating the log: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, log{}, fmt.Errorf("opening the log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, log{}, errors.Join(fmt.Errorf("opening the log: %w", err), f.Close())
	}
	return f, log{path, info.Size()}, nil
}

// tail returns the last lines of this run, in one line joined by " | ", or what kept it from
// reading them.
func (l log) tail() string {
	text, err := l.end()
	if err != nil {
		return "unreadable: " + err.Error()
	}
	return lastLines(text, tailLines)
}

func (l log) end() ([]byte, error) {
	f, err := os.Open(l.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(l.start, info.Size()-tailBytes)
	return io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
}

// lastLines joins the last n lines that say something. Lines of a stack trace do not.
func lastLines(text []byte, n int) string {
	var lines []string
	for _, line := range strings.Split(string(bytes.ToValidUTF8(text, []byte("?"))), "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !isFrame(line) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "(empty)"
	}
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}

// isFrame reports whether line is a frame of the ClickHouse engine's stack traces, such as
// "3. ? @ 0x0000000009176d7b".
func isFrame(line string) bool {
	number, rest, ok := strings.Cut(line, ". ")
	return ok && strings.Trim(number, "0123456789") == "" && strings.Contains(rest, "@ 0x")
}
