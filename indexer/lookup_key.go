package indexer

import (
	"encoding/json"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// lookupKeys finds the text by which a contract is looked up. It remembers what it knows
// of each template id, as nearly all contracts have none.
type lookupKeys map[templateVersion][]string

type templateVersion struct{ packageName, templateID string }

func (k lookupKeys) fields(e *schemas.Event) []string {
	version := templateVersion{e.PackageName, e.TemplateID}
	fields, known := k[version]
	if !known {
		fields = template.PublicLookupFields(values.Network(schemas.TemplateName(e.PackageName, e.TemplateID)))
		k[version] = fields
	}
	return fields
}

// of returns the text, "" for most contracts and for one whose argument does not have the
// fields: that one is found by what else is known of it.
func (k lookupKeys) of(l *store.Lifetime) string {
	e := &l.Event
	fields := k.fields(e)
	if len(fields) == 0 {
		return ""
	}
	argument := l.Argument()
	if l.Encoding != schemas.CompactJSON {
		compact, err := values.AppendCompact(nil, argument, values.Default().Template(e.PackageName, e.TemplateID))
		if err != nil {
			return ""
		}
		argument = compact
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(argument, &members) != nil {
		return ""
	}
	texts := make([]string, len(fields))
	for i, name := range fields {
		if json.Unmarshal(members[name], &texts[i]) != nil {
			return ""
		}
	}
	return strings.Join(texts, " ")
}
