package values

// Definition is a template or an interface with its types, as a compiled package has them.
type Definition struct {
	Entry
	// Record are a template's create arguments, nil for an interface and where they are not known.
	Record  *Type
	Choices map[string]Choice
}

// Learning returns a catalogue with what c has, which may learn more.
func (c *Catalog) Learning() *Catalog {
	return &Catalog{templates: c.templates, entries: c.entries, fingerprint: c.fingerprint}
}

// Learn has a catalogue of Learning know definitions beside those of its files, in place of what it
// learnt before. What the files have stays: theirs are more than the fields of one version. The
// fingerprint is that of the definitions, 0 for none.
func (c *Catalog) Learn(definitions []Definition, fingerprint uint64) {
	learnt := &Catalog{templates: map[string]map[string]*template{"": {}}, fingerprint: fingerprint}
	for _, d := range definitions {
		choices := make(map[string]Choice, 2*len(d.Choices))
		for name, ch := range d.Choices {
			choices[name], choices[Neutral(name)] = ch, ch
		}
		learnt.add(d.PackageName, d.Entity, &template{record: d.Record, choices: choices})
		if c.templates[d.PackageName][d.Entity] == nil {
			learnt.enter(d.Entry)
		}
	}
	c.learnt.Store(learnt)
}
