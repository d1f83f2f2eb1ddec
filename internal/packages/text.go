package packages

import (
	"fmt"
	"strings"
)

// maxText bounds the text of a type: one may be made of itself many times over.
const maxText = 2_000

var kindTexts = map[Kind]string{
	NotData: "(no data)", Unit: "Unit", Bool: "Bool", Int64: "Int64", Date: "Date", Timestamp: "Timestamp", Numeric: "Numeric", Party: "Party",
	Text: "Text", ContractID: "ContractId", Optional: "optional", List: "List", GenMap: "GenMap", TextMap: "TextMap",
}

// TypeText is a type of the package for people, such as List<Leg>, optional Text or Numeric<10>. Types
// of other modules stand with their module. It is cut at some length.
func (p *Package) TypeText(module string, t *Type) string {
	w := typeText{p: p, module: module}
	w.add(t)
	if w.Len() > maxText {
		return w.String()[:maxText] + ".."
	}
	return w.String()
}

type typeText struct {
	strings.Builder
	p      *Package
	module string
}

func (w *typeText) add(t *Type) {
	if w.Len() > maxText {
		return
	}
	switch t.Kind {
	case Optional:
		w.WriteString("optional ")
		for _, a := range t.Args {
			w.add(a)
		}
		return
	case Named:
		w.WriteString(w.name(t.Ref))
	case Variable:
		w.WriteString(t.Name)
	case Natural:
		fmt.Fprint(w, t.N)
	default:
		w.WriteString(kindTexts[t.Kind])
	}
	for i, a := range t.Args {
		w.WriteString(map[bool]string{true: "<", false: ", "}[i == 0])
		w.add(a)
	}
	if len(t.Args) > 0 {
		w.WriteByte('>')
	}
}

// name is a type's name, with its module where that is another one.
func (w *typeText) name(r Ref) string {
	if r.Package == w.p.ID && r.Module == w.module {
		return r.Name
	}
	return r.Entity()
}
