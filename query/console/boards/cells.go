package boards

import (
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/answers"
)

type answersColumn = answers.Column

// content is what a value of an answer is, which decides on how it is shown.
type content int

const (
	ofText content = iota
	ofParty
	ofUpdate
	ofID
	ofNumber
	ofTime
)

// numbers are the beginnings of types of numbers.
var numbers = []string{"Int", "UInt", "Decimal", "Float", "Nullable(Decimal", "Nullable(Int", "Nullable(UInt", "Nullable(Float"}

// contentOf tells what a value is by its column and by how it looks.
func contentOf(c answersColumn, value string) content {
	switch {
	case slices.ContainsFunc(numbers, func(n string) bool { return strings.HasPrefix(c.Type, n) }):
		return ofNumber
	case strings.Contains(c.Type, "Date"):
		return ofTime
	case !strings.Contains(c.Type, "String"), strings.Contains(c.Type, "Array"), strings.ContainsAny(value, " \n"):
		return ofText
	case strings.Contains(value, "::122"):
		return ofParty
	case c.Name == "update_id", strings.HasSuffix(c.Name, "_in") && strings.HasPrefix(value, "122"):
		return ofUpdate
	case len(value) >= 64 && !strings.Contains(value, ","):
		return ofID
	}
	return ofText
}

// columnClass has numbers at the right.
func columnClass(c answersColumn) string {
	if contentOf(c, "") == ofNumber {
		return "number"
	}
	return ""
}

// trimmed is a statement without empty lines around it.
func trimmed(statement string) string { return strings.TrimSpace(statement) }

// command asks the question on the command line, with the values of the form.
func command(view questionView) string {
	text := "ledgerlake sql --run " + view.question.Name
	for i, p := range view.question.Parameters {
		if value := view.inputs[i].value; value != p.Default && value != "" {
			text += " --param " + shellQuoted(p.Name+"="+value)
		}
	}
	return text
}

// shellQuoted is a word of a shell's command.
func shellQuoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
