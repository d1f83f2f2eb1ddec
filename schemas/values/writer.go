package values

import "github.com/ledgerlake/ledgerlake/schemas"

// Writer writes the contract values of events in one encoding. Values in that encoding
// are written as they are stored, others are converted. What cannot be converted becomes
// the [Fallback] of the interface, with the value as stored.
type Writer struct {
	Catalog *Catalog
	Want    schemas.Encoding
	// Published converts to compact_json as the network's own services do; see AppendPublished.
	Published bool
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

// RestoreArgument returns the argument of an event in protobuf_json, given what w made of it in
// compact_json. That need not be what w was given: labels, for one, are lost. Without a type in
// the catalogue only what w could not convert is restored; else the error is ErrUnknownType.
func (w Writer) RestoreArgument(e *schemas.Event) ([]byte, error) {
	if e.Kind == schemas.Exercised {
		return restore(e.Argument, w.Catalog.ChoiceArgument(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice))
	}
	return restore(e.Argument, w.Catalog.Template(e.PackageName, e.TemplateID))
}

// RestoreResult is RestoreArgument for the result, nil where there is none.
func (w Writer) RestoreResult(e *schemas.Event) ([]byte, error) {
	return restore(e.Result, w.Catalog.ChoiceResult(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice))
}

// restore is the inverse of convert to compact_json.
func restore(compact []byte, t *Type) ([]byte, error) {
	if len(compact) == 0 {
		return nil, nil
	}
	if stored, ok := unwrapped(compact); ok {
		return stored, nil
	}
	return convertCanonical(nil, compact, t, (*converter).protobufValue)
}

func (w Writer) convert(dst, stored []byte, t *Type) []byte {
	to := (*converter).compactValue
	switch {
	case w.Want == schemas.ProtobufJSON:
		to = (*converter).protobufValue
	case w.Published:
		to = (*converter).publishedValue
	}
	out, err := convertCanonical(dst, stored, t, to)
	if err != nil {
		return Fallback(dst, stored, err)
	}
	return out
}
