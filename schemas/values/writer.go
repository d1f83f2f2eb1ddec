package values

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Writer writes the contract values of events in one encoding. Values in that encoding
// are written as they are stored, others are converted. What cannot be converted becomes
// the [Fallback] of the interface, with the value as stored.
type Writer struct {
	Catalog *Catalog
	Want    schemas.Encoding
}

// For returns the writer of values that are stored in an encoding.
func (w Writer) For(stored schemas.Encoding) schemas.ValueWriter {
	if stored == w.Want {
		return schemas.StoredValues{}
	}
	return w
}

// AppendCreateArguments appends the converted create arguments.
func (w Writer) AppendCreateArguments(dst []byte, e *schemas.Event) []byte {
	return w.convert(dst, e.Argument, w.Catalog.Template(e.PackageName, e.TemplateID))
}

// AppendChoiceArgument appends the converted argument.
func (w Writer) AppendChoiceArgument(dst []byte, e *schemas.Event) []byte {
	return w.convert(dst, e.Argument, w.Catalog.ChoiceArgument(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice))
}

// AppendExerciseResult appends the converted result.
func (w Writer) AppendExerciseResult(dst []byte, e *schemas.Event) []byte {
	return w.convert(dst, e.Result, w.Catalog.ChoiceResult(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice))
}

// Restore returns the argument and the result of an event in protobuf_json, given what w made
// of them in compact_json; the result is nil where there is none. What it returns need not be
// what w was given: labels, for one, are lost.
func (w Writer) Restore(e *schemas.Event) (argument, result []byte, err error) {
	argumentType := w.Catalog.Template(e.PackageName, e.TemplateID)
	if e.Kind == schemas.Exercised {
		argumentType = w.Catalog.ChoiceArgument(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice)
	}
	if argument, err = restore(e.Argument, argumentType); err != nil || len(e.Result) == 0 {
		return argument, nil, err
	}
	result, err = restore(e.Result, w.Catalog.ChoiceResult(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice))
	return argument, result, err
}

// restore is the inverse of convert to compact_json.
func restore(compact []byte, t *Type) ([]byte, error) {
	if len(compact) == 0 {
		return nil, nil
	}
	if stored, ok := unwrapped(compact); ok {
		return stored, nil
	}
	if t == nil {
		return guessed(compact)
	}
	return convertCanonical(nil, compact, t, (*converter).protobufValue)
}

// guessed restores what choices of unknown types return most often: nothing, or a contract.
func guessed(compact []byte) ([]byte, error) {
	switch {
	case string(compact) == "{}":
		return []byte(`{"unit":{}}`), nil
	case compact[0] == '"':
		return slices.Concat([]byte(`{"contractId":`), compact, []byte{'}'}), nil
	}
	return nil, ErrUnknownType
}

func (w Writer) convert(dst, stored []byte, t *Type) []byte {
	to := (*converter).compactValue
	if w.Want == schemas.ProtobufJSON {
		to = (*converter).protobufValue
	}
	out, err := convertCanonical(dst, stored, t, to)
	if err != nil {
		return Fallback(dst, stored, err)
	}
	return out
}
