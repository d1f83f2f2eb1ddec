package values

import "fmt"

// declaration is what may be there once.
type declaration struct{ pkg, name string }

// declarations allocates the named types of the files of one file system.
type declarations struct {
	*loader
	places map[declaration]string // the file of each
}

func (d *declarations) declare(f *file) error {
	if d.named[f.Package] == nil {
		d.named[f.Package] = map[string]*Type{}
	}
	var errs []error
	for name := range f.Records {
		errs = append(errs, d.add(f, name, KindRecord))
	}
	for name := range f.Variants {
		errs = append(errs, d.add(f, name, KindVariant))
	}
	for name := range f.Enums {
		errs = append(errs, d.add(f, name, KindEnum))
	}
	for id := range f.Templates {
		errs = append(errs, d.addTemplate(f, id))
	}
	for id := range f.Interfaces {
		errs = append(errs, d.once(f, id))
	}
	return joinSorted(errs)
}

func (d *declarations) add(f *file, name string, kind Kind) error {
	d.named[f.Package][name] = &Type{Kind: kind, Name: name}
	return d.once(f, name)
}

func (d *declarations) addTemplate(f *file, id string) error {
	_, entity, qualified := cutLast(id, ':')
	if !qualified {
		return fmt.Errorf("template %s is not named Module:Entity, as in Acme.Trade:Order", id)
	}
	t := &Type{Kind: KindRecord, Name: entity}
	d.named[f.Package][id] = t
	if _, other := d.places[declaration{f.Package, entity}]; other {
		t = nil // ambiguous; the id is not
	}
	d.places[declaration{f.Package, entity}] = f.name
	d.named[f.Package][entity] = t
	return d.once(f, id)
}

// once returns an error if a file of the same file system has the same.
func (d *declarations) once(f *file, name string) error {
	key := declaration{f.Package, name}
	other, there := d.places[key]
	d.places[key] = f.name
	switch {
	case !there:
		return nil
	case other == f.name:
		return fmt.Errorf("%s is declared twice: remove one", name)
	}
	return fmt.Errorf("%s of package %s is also in %s: remove one", name, f.Package, other)
}
