package sqlprompt

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// codeSyntax is the code of ClickHouse's exceptions about syntax.
const codeSyntax = 62

// unknownName are the codes of exceptions that name what does not exist: a column, a function, an
// identifier, a table, a setting, a parameter.
var unknownName = map[int32]bool{16: true, 46: true, 47: true, 60: true, 115: true, 456: true}

var (
	// badSyntax is how ClickHouse reports a syntax error: what is wrong, at which byte, at which word, and
	// what it expected there.
	badSyntax = regexp.MustCompile(`(?s)^(.*?)Syntax error(?: \((.*?)\))?: failed at position (\d+) \((.*?)\)(?: \(line \d+, col \d+\))?: .*?(?:Expected one of: (.*)|(Unmatched parentheses: .*))?$`)
	// quotedName is a name in a message.
	quotedName = regexp.MustCompile("[`']([A-Za-z_][A-Za-z0-9_.]*)[`']")
	// repeated is the rest of a message that repeats the statement, which may be long.
	repeated = regexp.MustCompile(`(?s)(?:[.:]? [Ii]n scope |: while executing ).*$`)
)

// explain says in one line what ClickHouse found wrong with a statement, and in which line and column, if
// that is known. It wraps err.
func explain(err error, s statement) error {
	var wrong *clickhouse.Exception
	if !errors.As(err, &wrong) {
		return fmt.Errorf("running the query of line %d: %w", s.line, err)
	}
	text, at := repeated.ReplaceAllString(wrong.Message, ""), -1
	if found := badSyntax.FindStringSubmatch(text); found != nil {
		text = syntaxError(found)
		at, _ = strconv.Atoi(found[3]) // digits, by the pattern
		at--
	} else if name := quotedName.FindStringSubmatch(text); name != nil && unknownName[wrong.Code] {
		at = find(s.text, name[1])
	}
	text = fmt.Sprintf("%s (code %d)", strings.Join(strings.Fields(text), " "), wrong.Code)
	switch {
	case at >= 0 && at <= len(s.text):
		before := s.text[:at]
		text = fmt.Sprintf("line %d, column %d: %s", s.line+strings.Count(before, "\n"), at-strings.LastIndexByte(before, '\n'), text)
	case strings.Contains(s.text, "\n") || s.line > 1:
		text = fmt.Sprintf("statement of line %d: %s", s.line, text)
	}
	return mistake{text, err}
}

// mistake has words of ours for an error that stays in the chain.
type mistake struct {
	text string
	err  error
}

func (m mistake) Error() string { return m.text }
func (m mistake) Unwrap() error { return m.err }

// maxExpected is how many of the words that could follow are named.
const maxExpected = 8

// syntaxError is the text of what badSyntax found.
func syntaxError(found []string) string {
	text := fmt.Sprintf("syntax error at %q", found[4])
	if found[4] == "end of query" {
		text = "syntax error at the end"
	}
	if reason := strings.TrimSuffix(found[1]+found[2], ": "); reason != "" {
		text += ": " + reason
	}
	if found[5] != "" {
		expected := strings.Split(found[5], ", ")
		if len(expected) > maxExpected {
			expected = append(expected[:maxExpected:maxExpected], "...")
		}
		text += ": expected " + strings.Join(expected, ", ")
	}
	if found[6] != "" {
		text += ": " + strings.ToLower(found[6][:1]) + found[6][1:]
	}
	return text
}

// find is the byte at which a name begins in text, or -1.
func find(text, name string) int {
	at := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).FindStringIndex(text)
	if at == nil {
		return -1
	}
	return at[0]
}
