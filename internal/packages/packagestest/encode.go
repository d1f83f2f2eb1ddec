// Package packagestest writes compiled packages for tests, which come from no compiler. It is written
// from the table of field numbers and shares nothing with the reader but the model.
package packagestest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ledgerlake/ledgerlake/internal/packages"
)

// Payload returns the bytes of a package, version 2.1 unless it says otherwise, with the id and the
// bytes set. What it has of its own it refers to with an empty package id.
func Payload(p *packages.Package) []byte {
	e := encoder{strings: map[string]int{}, names: map[string]int{}, types: map[string]int{}, done: map[*packages.Type]message{}}
	e.text("") // so that no name has number 0 by chance
	var modules message
	for _, m := range p.Modules {
		modules.sub(1, e.module(&m))
	}
	var metadata message
	metadata.number(1, e.text(p.Name))
	metadata.number(2, e.text(p.Version))
	if p.Upgrades != "" {
		var upgraded message
		upgraded.number(1, e.text(p.Upgrades))
		metadata.sub(3, upgraded)
	}
	content := modules
	for _, s := range e.stringList {
		content.text(2, s)
	}
	for _, n := range e.nameList {
		content.sub(3, n)
	}
	if p.Name != "" {
		content.sub(4, metadata)
	}
	for _, t := range e.typeList {
		content.sub(5, t)
	}
	minor, ok := strings.CutPrefix(p.LF, "2.")
	if !ok {
		minor = "1"
	}
	return Envelope(minor, content)
}

// Envelope returns the payload with a minor version and a content of version 2.
func Envelope(minor string, content []byte) []byte {
	var payload message
	payload.text(3, minor)
	payload.sub(4, content)
	return payload
}

// ID is the id of the package with a payload.
func ID(payload []byte) string {
	sum := sha256.Sum256(payload)
	return hex.EncodeToString(sum[:])
}

// Archive wraps a payload as it is in a .dar file.
func Archive(payload []byte) []byte {
	var archive message
	archive.sub(3, payload)
	archive.text(4, ID(payload))
	return archive
}

// DAR returns a .dar file with the packages of payloads, the main one first.
func DAR(payloads ...[]byte) []byte {
	var paths []string
	files := map[string][]byte{}
	for i, payload := range payloads {
		path := fmt.Sprintf("example-%d-1.0.0-%s/example-%[1]d-1.0.0-%[2]s.dalf", i, ID(payload))
		paths, files[path] = append(paths, path), Archive(payload)
	}
	lines := []string{
		"Manifest-Version: 1.0", "Created-By: packagestest", "Name: example-1.0.0", "Main-Dalf: " + paths[0],
		"Dalfs: " + strings.Join(paths, ", "), "Format: daml-lf", "",
	}
	var manifest strings.Builder
	for _, line := range lines {
		for len(line) > 72 {
			manifest.WriteString(line[:72] + "\n")
			line = " " + line[72:]
		}
		manifest.WriteString(line + "\n")
	}
	files["META-INF/MANIFEST.MF"] = []byte(manifest.String())
	return Zip(files)
}

// Zip returns a zip file.
func Zip(files map[string][]byte) []byte {
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	for path, content := range files {
		w, err := z.Create(path)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			panic(err) // a buffer takes everything
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return file.Bytes()
}

// message is a message under construction.
type message []byte

func (m *message) number(num protowire.Number, n int) {
	if n != 0 { // which is left out
		m.index(num, n)
	}
}

// index writes a number that is a member of a choice, 0 too.
func (m *message) index(num protowire.Number, n int) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, num, protowire.VarintType), uint64(n))
}

func (m *message) text(num protowire.Number, s string) { m.sub(num, []byte(s)) }

func (m *message) sub(num protowire.Number, content []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, num, protowire.BytesType), content)
}

// encoder keeps the tables of a package while its modules are written.
type encoder struct {
	strings, names, types map[string]int
	stringList            []string
	nameList, typeList    []message
	done                  map[*packages.Type]message // types that were written
}

func (e *encoder) text(s string) int {
	n, ok := e.strings[s]
	if !ok {
		n = len(e.stringList)
		e.strings[s], e.stringList = n, append(e.stringList, s)
	}
	return n
}

func (e *encoder) name(dotted string) int {
	n, ok := e.names[dotted]
	if !ok {
		var segments, m message
		for s := range strings.SplitSeq(dotted, ".") {
			segments = protowire.AppendVarint(segments, uint64(e.text(s)))
		}
		m.sub(1, segments)
		n = len(e.nameList)
		e.names[dotted], e.nameList = n, append(e.nameList, m)
	}
	return n
}

func (e *encoder) module(m *packages.Module) message {
	var out message
	out.number(1, e.name(m.Name))
	for _, t := range m.Types {
		out.sub(4, e.dataType(&t))
	}
	for _, t := range m.Templates {
		out.sub(6, e.template(&t))
	}
	for _, i := range m.Interfaces {
		out.sub(8, e.iface(&i))
	}
	return out
}

func (e *encoder) dataType(t *packages.DataType) message {
	var out, content message
	out.number(2, e.name(t.Name))
	for _, p := range t.Params {
		var kind, star, param message
		star.sub(1, nil)
		kind = star
		param.number(3, e.text(p))
		param.sub(2, kind)
		out.sub(3, param)
	}
	out.index(4, 1)
	switch t.Shape {
	case packages.Record, packages.Variant:
		for _, f := range t.Fields {
			content.sub(1, e.binder(f.Name, f.Type))
		}
	case packages.Enum:
		var numbers message
		for _, f := range t.Fields {
			numbers = protowire.AppendVarint(numbers, uint64(e.text(f.Name)))
		}
		content.sub(2, numbers)
	}
	if t.Shape != 0 {
		out.sub(map[packages.Shape]protowire.Number{packages.Record: 5, packages.Variant: 6, packages.Enum: 7, packages.OfInterface: 8}[t.Shape], content)
	}
	return out
}

func (e *encoder) binder(name string, t *packages.Type) message {
	var out message
	out.number(3, e.text(name))
	out.sub(2, e.typ(t))
	return out
}

func (e *encoder) template(t *packages.Template) message {
	var out message
	out.number(1, e.name(t.Name))
	out.number(2, e.text("this"))
	out.sub(4, []byte{0xff}) // an expression, which nobody reads
	for _, c := range t.Choices {
		out.sub(6, e.choice(&c))
	}
	if t.Key != nil {
		var key message
		key.sub(1, e.typ(t.Key))
		out.sub(9, key)
	}
	for _, i := range t.Implements {
		var implements message
		implements.sub(1, e.ref(i))
		out.sub(10, implements)
	}
	return out
}

func (e *encoder) iface(i *packages.Interface) message {
	var out message
	out.number(2, e.name(i.Name))
	out.number(4, e.text("this"))
	for _, c := range i.Choices {
		out.sub(5, e.choice(&c))
	}
	out.sub(6, e.typ(i.View))
	for _, r := range i.Requires {
		out.sub(7, e.ref(r))
	}
	return out
}

func (e *encoder) choice(c *packages.Choice) message {
	var out message
	out.number(2, e.text(c.Name))
	if c.Consuming {
		out.index(3, 1)
	}
	out.sub(4, []byte{0xff})
	out.sub(6, e.binder("arg", c.Argument))
	out.sub(8, e.typ(c.Result))
	out.sub(9, []byte{0xff})
	return out
}

func (e *encoder) ref(r packages.Ref) message {
	var of, module, out message
	if r.Package == "" {
		of.sub(1, nil)
	} else {
		of.index(3, e.text(r.Package))
	}
	module.sub(1, of)
	module.number(2, e.name(r.Module))
	out.sub(1, module)
	out.number(2, e.name(r.Name))
	return out
}

// numbersOfBuiltins are the built-in types; a struct stands for all that is not data.
var numbersOfBuiltins = map[packages.Kind]int{
	packages.Unit: 0, packages.Bool: 1, packages.Int64: 2, packages.Date: 3, packages.Timestamp: 4, packages.Numeric: 5,
	packages.Party: 6, packages.Text: 7, packages.ContractID: 8, packages.Optional: 9, packages.List: 10,
	packages.GenMap: 11, packages.TextMap: 19,
}

// typ writes a type into the table and returns one that refers to it.
func (e *encoder) typ(t *packages.Type) message {
	if m, ok := e.done[t]; ok {
		return m
	}
	var content, entry message
	switch t.Kind {
	case packages.NotData:
		entry.sub(5, nil)
	case packages.Natural:
		entry.index(6, int(protowire.EncodeZigZag(t.N)))
	case packages.Variable:
		content.number(3, e.text(t.Name))
		entry.sub(1, e.args(content, t))
	case packages.Named:
		content.sub(1, e.ref(t.Ref))
		entry.sub(2, e.args(content, t))
	default:
		content.number(1, numbersOfBuiltins[t.Kind])
		entry.sub(3, e.args(content, t))
	}
	n, ok := e.types[string(entry)]
	if !ok {
		n = len(e.typeList)
		e.types[string(entry)], e.typeList = n, append(e.typeList, entry)
	}
	var out message
	out.index(8, n)
	e.done[t] = out
	return out
}

func (e *encoder) args(content message, t *packages.Type) message {
	for _, a := range t.Args {
		content.sub(2, e.typ(a))
	}
	return content
}
