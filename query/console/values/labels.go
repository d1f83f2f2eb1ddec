package values

import (
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Labels gives contract values the labels of their types. It is safe for concurrent use.
type Labels struct{ catalog *values.Catalog }

// NewLabels returns the labels that a catalogue knows.
func NewLabels(catalog *values.Catalog) Labels { return Labels{catalog} }

// Argument is the argument of an event with labels, and its result, nil for a created one. encoding is how they are
// stored. Values whose type is not known are wrapped with the reason, as the interfaces have them.
func (l Labels) Argument(e *schemas.Event, encoding schemas.Encoding) (argument, result []byte) {
	w := values.Writer{Catalog: l.catalog, Want: schemas.CompactJSON}.For(encoding)
	if e.Kind == schemas.Created {
		return w.AppendCreateArguments(nil, e), nil
	}
	return w.AppendChoiceArgument(nil, e), w.AppendExerciseResult(nil, e)
}
