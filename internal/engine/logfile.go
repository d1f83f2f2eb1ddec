package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	logLimit  = 8 << 20  // a log beyond this size is put aside at start
	tailBytes = 16 << 10 // how much of the log's end is looked at for an error
	tailLines = 6        // and how many lines of it a person gets to read
)

// logFile is the output of one run of the child within <data>/engine.log.
type logFile struct {
	*os.File
	start int64 // where this run's output begins
}

// openLog opens the log for appending; one that has grown too long becomes
// engine.log.1, replacing the one before.
func openLog(dir string) (*logFile, error) {
	path := filepath.Join(dir, "engine.log")
	if info, err := os.Stat(path); err == nil && info.Size() > logLimit {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("putting the old engine log aside: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening engine log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening engine log: %w", err), f.Close())
	}
	return &logFile{File: f, start: info.Size()}, nil
}

// tail returns the last lines of this run, in one line joined by " | ", or what kept
// it from reading them.
func (l *logFile) tail() string {
	info, err := l.Stat()
	if err != nil {
		return "unreadable: " + err.Error()
	}
	from := max(l.start, info.Size()-tailBytes)
	text, err := io.ReadAll(io.NewSectionReader(l, from, info.Size()-from))
	if err != nil {
		return "unreadable: " + err.Error()
	}
	return lastLines(text, tailLines)
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

// isFrame reports whether line is a frame of the engine's stack traces, such as
// "3. ? @ 0x0000000009176d7b".
func isFrame(line string) bool {
	number, rest, ok := strings.Cut(line, ". ")
	return ok && strings.Trim(number, "0123456789") == "" && strings.Contains(rest, "@ 0x")
}
