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

// updateWriter renders updates in a form and an encoding.
type updateWriter struct {
	form   schemas.UpdateForm
	values values.Writer
}

func newUpdateWriter(catalog *values.Catalog, form schemas.UpdateForm, want schemas.Encoding) updateWriter {
	return updateWriter{form: form, values: values.Writer{Catalog: catalog, Want: want}}
}

func (w updateWriter) update(dst []byte, u *schemas.Update) []byte {
	w.form.Values = w.values.For(u.Encoding)
	return schemas.AppendUpdate(dst, u, w.form)
}

func (w updateWriter) item(dst []byte, it *schemas.Item) []byte {
	if it.Update != nil {
		w.form.Values = w.values.For(it.Update.Encoding)
	}
	return schemas.AppendItemForm(dst, it, w.form)
}
