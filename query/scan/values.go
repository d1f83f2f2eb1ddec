package scan

import (
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// encodingParam names the encoding of contract values; its alias is known to query.
const encodingParam = "contract_value_encoding"

func encodingOf(p *query.Params) schemas.Encoding {
	return schemas.Encoding(p.OneOf(encodingParam, string(schemas.CompactJSON), string(schemas.ProtobufJSON)))
}

// encodingFor reads the encoding that goes with a form: v0 has a flag in place of a name.
func encodingFor(p *query.Params, form schemas.UpdateForm) schemas.Encoding {
	switch {
	case !form.NodeLocal:
		return encodingOf(p)
	case p.Bool("lossless"):
		return schemas.ProtobufJSON
	}
	return schemas.CompactJSON
}

// valueWriter writes contract values in the encoding that was asked for. Values in
// that encoding are written as they are stored, others are converted. What cannot be
// converted becomes the fallback object of the interface, with the value as stored.
type valueWriter struct {
	catalog *values.Catalog
	want    schemas.Encoding
}

// writer returns the schemas.ValueWriter for values stored in an encoding.
func (w valueWriter) writer(stored schemas.Encoding) schemas.ValueWriter {
	if stored == w.want {
		return schemas.StoredValues{}
	}
	return w
}

// AppendCreateArguments appends the converted create arguments.
func (w valueWriter) AppendCreateArguments(dst []byte, e *schemas.Event) []byte {
	return w.convert(dst, e.Argument, w.catalog.Template(e.PackageName, e.TemplateID))
}

// AppendChoiceArgument appends the converted argument.
func (w valueWriter) AppendChoiceArgument(dst []byte, e *schemas.Event) []byte {
	return w.convert(dst, e.Argument, w.catalog.ChoiceArgument(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice))
}

// AppendExerciseResult appends the converted result.
func (w valueWriter) AppendExerciseResult(dst []byte, e *schemas.Event) []byte {
	return w.convert(dst, e.Result, w.catalog.ChoiceResult(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice))
}

func (w valueWriter) convert(dst, stored []byte, t *values.Type) []byte {
	to := values.AppendCompact
	if w.want == schemas.ProtobufJSON {
		to = values.AppendProtobuf
	}
	out, err := to(dst, stored, t)
	if err != nil {
		return values.Fallback(dst, stored, err)
	}
	return out
}

// updateWriter renders updates in a form and an encoding.
type updateWriter struct {
	form   schemas.UpdateForm
	values valueWriter
}

func (a *API) updateWriter(form schemas.UpdateForm, want schemas.Encoding) updateWriter {
	return updateWriter{form: form, values: valueWriter{catalog: a.cfg.Catalog, want: want}}
}

func (w updateWriter) update(dst []byte, u *schemas.Update) []byte {
	w.form.Values = w.values.writer(u.Encoding)
	return schemas.AppendUpdate(dst, u, w.form)
}

func (w updateWriter) item(dst []byte, it *schemas.Item) []byte {
	if it.Update != nil {
		w.form.Values = w.values.writer(it.Update.Encoding)
	}
	return schemas.AppendItemForm(dst, it, w.form)
}
