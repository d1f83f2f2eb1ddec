package sqlprompt

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// maxStatement bounds the text of one statement, in bytes.
const maxStatement = 1 << 20

// statement is one SQL statement without its semicolon.
type statement struct {
	text string
	line int // of the input that it begins on, from 1
	// flat is the statement on one line, with a semicolon and without comments, for the history; empty if
	// the text cannot be written on one line.
	flat string
}

// splitter cuts lines into statements at the semicolons that are outside of quotes and comments.
type splitter struct {
	text, flat strings.Builder // of the statement so far
	first      int             // line on which its text begins, comments included; 0 before that
	words      bool            // it has more than comments
	within     string          // what ends the quote or comment that the text is in, "" outside of them
	broken     bool            // a quote goes over several lines
	line       int             // that was added last
}

var (
	// heredoc is how a text without escapes begins, such as $$ or $end$.
	heredoc = regexp.MustCompile(`^\$\w*\$`)
	// word is a name, which may have dollars, or a number.
	word = regexp.MustCompile(`^\w[\w$]*`)
)

// add takes the next line, without its end, and returns the statements that it completes.
func (s *splitter) add(line string) (done []statement) {
	s.line++
	for line != "" {
		if s.within == "" && line[0] == ';' {
			done = append(done, s.finish()...)
			line = line[1:]
			continue
		}
		n, comment := s.next(line)
		s.text.WriteString(line[:n])
		space := strings.TrimSpace(line[:n]) == ""
		if s.first == 0 && !space {
			s.first = s.line
		}
		if !comment {
			s.flat.WriteString(line[:n])
			s.words = s.words || !space
		}
		line = line[n:]
	}
	s.text.WriteByte('\n')
	s.flat.WriteByte(' ')
	s.broken = s.broken || s.within != "" && s.within != "*/"
	return done
}

// next is the number of bytes at the start of line that belong together, and whether they are of a comment.
func (s *splitter) next(line string) (n int, comment bool) {
	switch {
	case s.within != "" && strings.HasPrefix(line, s.within):
		n, comment, s.within = len(s.within), s.within == "*/", ""
		return n, comment
	case s.within != "":
		if line[0] == '\\' && strings.Contains("'\"`", s.within) {
			return min(2, len(line)), false
		}
		return 1, s.within == "*/"
	case strings.HasPrefix(line, "--"), strings.HasPrefix(line, "# "), strings.HasPrefix(line, "#!"):
		return len(line), true
	case strings.HasPrefix(line, "/*"):
		s.within = "*/"
		return 2, true
	case strings.Contains("'\"`", line[:1]):
		s.within = line[:1]
	case heredoc.MatchString(line):
		s.within = heredoc.FindString(line)
		return len(s.within), false
	}
	return max(1, len(word.FindString(line))), false
}

// pending reports whether a statement, or a comment before one, is not complete.
func (s *splitter) pending() bool { return s.words || s.within != "" }

// finish returns the statement so far, if there is one, and begins the next.
func (s *splitter) finish() (done []statement) {
	if s.words {
		next := statement{text: strings.TrimSpace(s.text.String()), line: s.first}
		if !s.broken {
			next.flat = strings.TrimSpace(s.flat.String()) + ";"
		}
		done = []statement{next}
	}
	*s = splitter{line: s.line}
	return done
}

// eachStatement calls do with the statements of a text, of which the last one needs no semicolon.
func eachStatement(in io.Reader, do func(statement) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxStatement)
	var s splitter
	for lines.Scan() {
		for _, next := range s.add(lines.Text()) {
			if err := do(next); err != nil {
				return err
			}
		}
		if s.text.Len() > maxStatement {
			return fmt.Errorf("the statement of line %d is longer than %d bytes", s.first, maxStatement)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading statements: %w", err)
	}
	for _, last := range s.finish() {
		return do(last)
	}
	return nil
}
