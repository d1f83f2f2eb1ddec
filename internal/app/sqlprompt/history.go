package sqlprompt

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxHistory is how many lines the file of the history has when a prompt begins; it grows from there.
const maxHistory = 1000

// HistoryFile is where a user's statements are kept: below XDG_STATE_HOME, or else .local/state.
func HistoryFile() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) { // as the specification of these folders has it
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("finding the folder of the history: %w", err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "ledgerlake", "sql_history"), nil
}

// history is a file with a statement in each line. Each line is written when it is typed, so several
// prompts may share the file, and a killed one loses nothing.
type history struct {
	file  *os.File
	lines []string // that the file had
}

// openHistory reads the file, and makes it, readable by its owner only, if there is none.
func openHistory(name string) (h *history, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("opening the history: %w", err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	lines, err := readLines(name)
	if err != nil {
		return nil, err
	}
	if over := len(lines) - maxHistory; over > 0 {
		lines = lines[over:]
		if err := replaceFile(name, strings.Join(lines, "\n")+"\n"); err != nil {
			return nil, err
		}
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &history{file, lines}, nil
}

// readLines are the lines of a file, none if there is no file.
func readLines(name string) (lines []string, err error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, maxStatement)
	for scanner.Scan() {
		lines = append(lines, scanner.Text())
	}
	return lines, scanner.Err()
}

// replaceFile writes a file at once, or leaves it as it is.
func replaceFile(name, text string) error {
	part := name + ".part"
	if err := os.WriteFile(part, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(part, name)
}

// add writes a line.
func (h *history) add(line string) error {
	if _, err := h.file.WriteString(line + "\n"); err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	return nil
}

func (h *history) close() error { return h.file.Close() }
