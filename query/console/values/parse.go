package values

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// What of one value is shown at most. Values of the network are far smaller; the raw JSON has everything.
const (
	maxNodes = 2000
	maxDepth = 40
	maxText  = 4000
)

// kind tells values apart by how they are shown.
type kind int

const (
	ofNone kind = iota // null
	ofText
	ofParty
	ofContract
	ofHash // another id in hexadecimal digits
	ofAmount
	ofTime
	ofWord // a boolean, or a number
	ofRecord
	ofList
	ofRest // what was left out
)

// node is a value.
type node struct {
	kind   kind
	text   string
	at     schemas.Micros
	fields []field
	items  []node
}

// field is a labelled part of a record.
type field struct {
	label string
	value node
}

// empty says that a record or a list has nothing in it.
func (n *node) empty() bool { return len(n.fields) == 0 && len(n.items) == 0 }

// parse makes a node of JSON. What is not JSON is a text.
func parse(text []byte) node {
	p := parser{decoder: json.NewDecoder(bytes.NewReader(text)), left: maxNodes}
	p.decoder.UseNumber()
	n, err := p.value(0)
	if err == nil {
		if _, err = p.decoder.Token(); errors.Is(err, io.EOF) {
			return n
		}
	}
	if !errors.Is(err, errLong) {
		return node{kind: ofText, text: cut(string(text))}
	}
	return n
}

// errLong says that there is more than is shown.
var errLong = errors.New("the value is too long")

type parser struct {
	decoder *json.Decoder
	left    int
}

// value reads the next value. With errLong it returns what there was until then.
func (p *parser) value(depth int) (node, error) {
	token, err := p.decoder.Token()
	if err != nil {
		return node{}, err
	}
	if p.left--; p.left < 0 || depth > maxDepth {
		return node{kind: ofRest}, errLong
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			return p.list(depth)
		}
		return p.record(depth)
	case string:
		return ofString(t), nil
	case json.Number:
		return node{kind: ofWord, text: t.String()}, nil
	case bool:
		return node{kind: ofWord, text: map[bool]string{true: "yes", false: "no"}[t]}, nil
	}
	return node{kind: ofNone}, nil
}

func (p *parser) list(depth int) (node, error) {
	n := node{kind: ofList}
	for p.decoder.More() {
		item, err := p.value(depth + 1)
		if err == nil || errors.Is(err, errLong) {
			n.items = append(n.items, item)
		}
		if err != nil {
			return n, err
		}
	}
	_, err := p.decoder.Token()
	return n, err
}

func (p *parser) record(depth int) (node, error) {
	n := node{kind: ofRecord}
	for p.decoder.More() {
		label, err := p.decoder.Token()
		if err != nil {
			return n, err
		}
		name, _ := label.(string)
		value, err := p.value(depth + 1)
		if err == nil || errors.Is(err, errLong) {
			n.fields = append(n.fields, field{cut(name), value})
		}
		if err != nil {
			return n, err
		}
	}
	_, err := p.decoder.Token()
	return n, err
}

var (
	partyForm    = regexp.MustCompile(`^[^:\s]{1,255}(:[^:\s]+)*::[0-9a-f]{4,80}$`)
	contractForm = regexp.MustCompile(`^00[0-9a-f]{64,}$`)
	hashForm     = regexp.MustCompile(`^[0-9a-f]{40,}$`)
	amountForm   = regexp.MustCompile(`^-?[0-9]{1,60}\.[0-9]{1,60}$`)
)

// ofString tells by its form what a text is.
func ofString(text string) node {
	switch {
	case len(text) > maxText:
	case amountForm.MatchString(text):
		return node{kind: ofAmount, text: text}
	case IsContract(text):
		return node{kind: ofContract, text: text}
	case hashForm.MatchString(text):
		return node{kind: ofHash, text: text}
	case IsParty(text):
		return node{kind: ofParty, text: text}
	case len(text) >= len(time.DateOnly+"T00:00:00Z") && strings.HasSuffix(text, "Z"):
		if at, err := schemas.ParseTime(text); err == nil {
			return node{kind: ofTime, text: text, at: at}
		}
	}
	return node{kind: ofText, text: cut(text)}
}

// IsParty reports whether a text has the form of a party's id.
func IsParty(text string) bool { return len(text) <= 600 && partyForm.MatchString(text) }

// IsContract reports whether a text has the form of a contract's id.
func IsContract(text string) bool { return len(text) <= 600 && contractForm.MatchString(text) }

// cut leaves out the end of a very long text.
func cut(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}
