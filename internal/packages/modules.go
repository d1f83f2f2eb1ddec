package packages

import (
	"errors"
	"fmt"
)

const (
	moduleName, moduleTypes, moduleTemplates, moduleInterfaces = 1, 4, 6, 8

	dataName, dataParams                           = 2, 3
	dataRecord, dataVariant, dataEnum, dataIsIface = 5, 6, 7, 8
	fieldsOf, constructorsOf                       = 1, 2
	binderName, binderType                         = 3, 2

	templateName, templateChoices, templateKey, templateImplements = 1, 6, 9, 10
	keyType, implementsInterface                                   = 1, 1

	choiceName, choiceConsuming, choiceArgument, choiceResult = 2, 3, 6, 8

	interfaceName, interfaceChoices, interfaceView, interfaceRequires = 2, 5, 6, 7
)

func (d *decoder) module(p *Package, message []byte) error {
	var name uint64
	var types, templates, interfaces [][]byte
	err := walk(message, func(f part) error {
		switch f.num {
		case moduleName:
			name = f.n
		case moduleTypes:
			types = append(types, f.b)
		case moduleTemplates:
			templates = append(templates, f.b)
		case moduleInterfaces:
			interfaces = append(interfaces, f.b)
		default:
			return nil
		}
		return d.count(1)
	})
	if err != nil {
		return err
	}
	var m Module
	if m.Name, err = d.dottedName(name); err != nil {
		return within(err, "module %d", len(p.Modules))
	}
	if d.found += len(templates) + len(interfaces); d.found > maxTemplates {
		return fmt.Errorf("module %s: the package has more than %d templates and interfaces", m.Name, maxTemplates)
	}
	if m.Types, err = readAll(types, d.dataType); err == nil {
		m.Templates, err = readAll(templates, d.template)
	}
	if err == nil {
		m.Interfaces, err = readAll(interfaces, d.iface)
	}
	p.Modules = append(p.Modules, m)
	return within(err, "module %s", m.Name)
}

func readAll[T any](messages [][]byte, read func([]byte) (T, error)) (list []T, err error) {
	for _, message := range messages {
		one, err := read(message)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

func (d *decoder) dataType(message []byte) (t DataType, err error) {
	var name uint64
	var content []byte
	var params [][]byte
	err = walk(message, func(f part) error {
		switch f.num {
		case dataName:
			name = f.n
		case dataParams:
			params = append(params, f.b)
			return d.count(1)
		case dataRecord, dataVariant, dataEnum, dataIsIface:
			t.Shape = map[int]Shape{dataRecord: Record, dataVariant: Variant, dataEnum: Enum, dataIsIface: OfInterface}[int(f.num)]
			content = f.b
		}
		return nil
	})
	if err == nil {
		t.Name, err = d.dottedName(name)
	}
	if err != nil {
		return t, within(err, "a data type")
	}
	if len(params) > maxArguments {
		return t, fmt.Errorf("type %s: it has more than %d parameters", t.Name, maxArguments)
	}
	for _, param := range params {
		b, err := d.binder(param, false)
		if err != nil {
			return t, within(err, "type %s", t.Name)
		}
		t.Params = append(t.Params, b.Name)
	}
	switch t.Shape {
	case Record, Variant:
		t.Fields, err = d.fields(content)
	case Enum:
		t.Fields, err = d.constructors(content)
	}
	if err == nil {
		err = unique(t.Fields)
	}
	return t, within(err, "type %s", t.Name)
}

func (d *decoder) fields(message []byte) (list []Field, err error) {
	err = walk(message, func(f part) error {
		if f.num != fieldsOf {
			return nil
		}
		one, err := d.binder(f.b, true)
		list = append(list, one)
		return within(err, "field %d", len(list))
	})
	return list, err
}

func (d *decoder) constructors(message []byte) (list []Field, err error) {
	err = walk(message, func(f part) error {
		if f.num != constructorsOf {
			return nil
		}
		numbers, err := f.numbers(nil)
		if err != nil {
			return err
		}
		for _, n := range numbers {
			name, err := d.name(n)
			if err == nil {
				err = d.count(1)
			}
			if err != nil {
				return err
			}
			list = append(list, Field{Name: name})
		}
		return nil
	})
	return list, err
}

// unique returns an error if there are too many fields, or two with one name.
func unique(fields []Field) error {
	if len(fields) > maxFields {
		return fmt.Errorf("it has %d fields or constructors: at most %d are read", len(fields), maxFields)
	}
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		if seen[f.Name] {
			return fmt.Errorf("it has %s twice", f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

// binder reads a name and its type, unless it is a parameter, which has a kind there.
func (d *decoder) binder(message []byte, typed bool) (b Field, err error) {
	var name uint64
	b.Type = notData
	err = walk(message, func(f part) (err error) {
		switch f.num {
		case binderName:
			name = f.n
		case binderType:
			if typed {
				b.Type, err = d.typ(f.b, 0)
			}
		}
		return err
	})
	if err == nil {
		b.Name, err = d.name(name)
	}
	if err == nil {
		err = d.count(1)
	}
	return b, err
}

func (d *decoder) template(message []byte) (t Template, err error) {
	var name uint64
	err = walk(message, func(f part) error {
		switch f.num {
		case templateName:
			name = f.n
		case templateChoices:
			c, err := d.choice(f.b)
			t.Choices = append(t.Choices, c)
			return err
		case templateKey:
			t.Key = notData
			return walk(f.b, func(f part) (err error) {
				if f.num == keyType {
					t.Key, err = d.typ(f.b, 0)
				}
				return err
			})
		case templateImplements:
			return walk(f.b, func(f part) error {
				if f.num != implementsInterface {
					return nil
				}
				return d.appendRef(&t.Implements, f.b)
			})
		}
		return nil
	})
	var nameErr error
	if t.Name, nameErr = d.dottedName(name); nameErr != nil {
		return t, within(nameErr, "a template")
	}
	return t, within(err, "template %s", t.Name)
}

func (d *decoder) iface(message []byte) (i Interface, err error) {
	var name uint64
	i.View = notData
	err = walk(message, func(f part) (err error) {
		switch f.num {
		case interfaceName:
			name = f.n
		case interfaceChoices:
			c, err := d.choice(f.b)
			i.Choices = append(i.Choices, c)
			return err
		case interfaceView:
			i.View, err = d.typ(f.b, 0)
		case interfaceRequires:
			return d.appendRef(&i.Requires, f.b)
		}
		return err
	})
	var nameErr error
	if i.Name, nameErr = d.dottedName(name); nameErr != nil {
		return i, within(nameErr, "an interface")
	}
	return i, within(err, "interface %s", i.Name)
}

func (d *decoder) appendRef(list *[]Ref, message []byte) error {
	r, err := d.ref(message)
	if err != nil {
		return err
	}
	*list = append(*list, r)
	return d.count(1)
}

func (d *decoder) choice(message []byte) (c Choice, err error) {
	var name uint64
	c.Argument, c.Result = notData, notData
	err = walk(message, func(f part) (err error) {
		switch f.num {
		case choiceName:
			name = f.n
		case choiceConsuming:
			c.Consuming = f.n != 0
		case choiceArgument:
			// The name that it has within the choice may be any.
			return walk(f.b, func(f part) (err error) {
				if f.num == binderType {
					c.Argument, err = d.typ(f.b, 0)
				}
				return err
			})
		case choiceResult:
			c.Result, err = d.typ(f.b, 0)
		}
		return err
	})
	if err == nil {
		err = d.count(1)
	}
	var nameErr error
	if c.Name, nameErr = d.name(name); nameErr != nil {
		return c, within(nameErr, "a choice")
	}
	return c, within(err, "choice %s", c.Name)
}

// check reports what refers to something of the package that is not there, and what is there twice.
func (p *Package) check() error {
	c := checker{p: p, types: map[Ref]Shape{}, ifaces: map[Ref]bool{}, seen: map[*Type]bool{}}
	return c.run()
}

// checker checks a package that is read.
type checker struct {
	p      *Package
	types  map[Ref]Shape
	ifaces map[Ref]bool
	seen   map[*Type]bool
}

func (c *checker) run() error {
	for i := range c.p.Modules {
		if err := c.declare(&c.p.Modules[i]); err != nil {
			return within(err, "module %s", c.p.Modules[i].Name)
		}
	}
	for i := range c.p.Modules {
		if err := c.module(&c.p.Modules[i]); err != nil {
			return within(err, "module %s", c.p.Modules[i].Name)
		}
	}
	return nil
}

func (c *checker) declare(m *Module) error {
	for _, t := range m.Types {
		r := Ref{c.p.ID, m.Name, t.Name}
		if _, ok := c.types[r]; ok {
			return fmt.Errorf("type %s is there twice", t.Name)
		}
		c.types[r] = t.Shape
	}
	for _, i := range m.Interfaces {
		r := Ref{c.p.ID, m.Name, i.Name}
		if c.ifaces[r] {
			return fmt.Errorf("interface %s is there twice", i.Name)
		}
		c.ifaces[r] = true
	}
	return nil
}

func (c *checker) module(m *Module) error {
	for _, t := range m.Types {
		for _, f := range t.Fields {
			if err := c.typ(f.Type); err != nil {
				return within(err, "type %s: %s", t.Name, f.Name)
			}
		}
	}
	seen := map[string]bool{}
	for _, t := range m.Templates {
		err := c.choices(t.Choices)
		switch {
		case seen[t.Name]:
			err = errors.New("it is there twice")
		case c.types[Ref{c.p.ID, m.Name, t.Name}] != Record:
			err = errors.New("there is no record with its fields")
		case err == nil:
			err = c.refs(t.Implements)
		}
		if err == nil && t.Key != nil {
			err = within(c.typ(t.Key), "key")
		}
		if err != nil {
			return within(err, "template %s", t.Name)
		}
		seen[t.Name] = true
	}
	for _, i := range m.Interfaces {
		err := c.choices(i.Choices)
		if err == nil {
			err = within(c.typ(i.View), "view")
		}
		if err == nil {
			err = c.refs(i.Requires)
		}
		if err != nil {
			return within(err, "interface %s", i.Name)
		}
	}
	return nil
}

func (c *checker) choices(choices []Choice) error {
	seen := map[string]bool{}
	for _, ch := range choices {
		if seen[ch.Name] {
			return fmt.Errorf("choice %s is there twice", ch.Name)
		}
		seen[ch.Name] = true
		err := within(c.typ(ch.Argument), "argument")
		if err == nil {
			err = within(c.typ(ch.Result), "result")
		}
		if err != nil {
			return within(err, "choice %s", ch.Name)
		}
	}
	return nil
}

func (c *checker) refs(list []Ref) error {
	for _, r := range list {
		if r.Package == c.p.ID && !c.ifaces[r] {
			return fmt.Errorf("it refers to interface %s, which is not there", r.Entity())
		}
	}
	return nil
}

// typ looks at each type once, however often it is used. nil, the type of an enum's constructor, is
// one.
func (c *checker) typ(t *Type) error {
	if t == nil || c.seen[t] {
		return nil
	}
	c.seen[t] = true
	if t.Kind == Named && t.Ref.Package == c.p.ID {
		if _, ok := c.types[t.Ref]; !ok {
			return fmt.Errorf("it refers to type %s, which is not there", t.Ref.Entity())
		}
	}
	for _, a := range t.Args {
		if err := c.typ(a); err != nil {
			return err
		}
	}
	return nil
}
