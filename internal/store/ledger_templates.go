package store

// LedgerTemplate is a template of which a stream has events, and an interface of which a
// choice was exercised on it, "" for the template alone.
type LedgerTemplate struct{ PackageName, TemplateID, InterfaceID string }

// LedgerTemplates are result rows: package_name, template_id, interface_id.
type LedgerTemplates struct{ packageName, template, iface *lowCardinality }

// NewLedgerTemplates returns a block without rows.
func NewLedgerTemplates() *LedgerTemplates {
	return &LedgerTemplates{newLowCardinality(), newLowCardinality(), newLowCardinality()}
}

func (b *LedgerTemplates) columns() []column {
	return []column{{"package_name", b.packageName}, {"template_id", b.template}, {"interface_id", b.iface}}
}

// Rows returns the number of rows.
func (b *LedgerTemplates) Rows() int { return b.template.Rows() }

// AppendTo appends the block's rows to list.
func (b *LedgerTemplates) AppendTo(list []LedgerTemplate) []LedgerTemplate {
	for i := range b.Rows() {
		list = append(list, LedgerTemplate{b.packageName.Row(i), b.template.Row(i), b.iface.Row(i)})
	}
	return list
}
