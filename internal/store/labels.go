package store

import (
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Label is what a shape of events becomes with labels: a row of table labels.
type Label struct {
	Stream      string `column:"stream,low"`
	PackageName string `column:"package_name,low"`
	TemplateID  string `column:"template_id,low"`
	InterfaceID string `column:"interface_id,low"`
	Choice      string `column:"choice,low"`
	// Number is the cityHash64 of Shape, by which events find their labels.
	Number uint64 `column:"shape"`
	// Constructors are what stands in the places Structure; mostly nothing.
	Constructors []string `column:"constructors"`
	Shape        string   `column:"body_shape"`
	Structure    []uint32 `column:"structure"`

	Argument      []string `column:"argument"`
	ArgumentHoles []uint32 `column:"argument_holes"`
	Result        []string `column:"result"`
	ResultHoles   []uint32 `column:"result_holes"`

	// ObjectsShape is the first half of the MD5, in hex, of the shape of the texts in published objects.
	ObjectsShape         string   `column:"objects_shape"`
	ObjectsStructure     []uint32 `column:"objects_structure"`
	ObjectsArgumentHoles []uint32 `column:"objects_argument_holes"`
	ObjectsResultHoles   []uint32 `column:"objects_result_holes"`

	// Catalog is the fingerprint of the catalogue that the labels are of.
	Catalog    uint64         `column:"catalog"`
	LabelledAt schemas.Micros `column:"labelled_at"`
}

// Place is that of a value in the shape of an event's body.
type Place struct {
	// At is where its mark is in the shape.
	At int
	// Scalar is its number among the scalars, -1 for an id or a party.
	Scalar int
	// Held and Object are its numbers as table labels counts: among the ids, parties and scalars of the
	// body, and in the order of the texts of published objects; Object is 0 for the contract id.
	Held, Object uint32
}

// Places returns the values of an event's body in the order of its shape.
func (s *Shape) Places() []Place {
	of := func(mark byte) int { return strings.Count(s.text, string(rune(mark))) }
	first := [...]int{idMark: 2, partyMark: 2 + of(idMark), scalarMark: 2 + of(idMark) + of(partyMark)}
	next, object := first, uint32(1)
	places := make([]Place, len(s.whole.steps))
	for i, mark := range s.whole.steps {
		p := Place{At: int(mark.at), Scalar: -1, Held: uint32(next[mark.mark])}
		if mark.mark == scalarMark {
			p.Scalar = next[scalarMark] - first[scalarMark]
		}
		if p.At > s.lines[0].to {
			object++
			p.Object = object
		}
		next[mark.mark]++
		places[i] = p
	}
	return places
}

// ObjectsShape is the shape of the argument and the result, a line each, with one mark for all values.
func (s *Shape) ObjectsShape() []byte {
	text := []byte(s.text[s.lines[1].from:])
	for i, c := range text {
		if c == idMark || c == partyMark {
			text[i] = scalarMark
		}
	}
	return text
}

// NewShape returns the shape of an event's body.
func NewShape(text string) *Shape { return newShape(text) }
