package values

import (
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// Kind says how a value is encoded.
type Kind uint8

// The kinds of the network's value model. The names in protobuf_json are those of
// Kind.String.
const (
	KindUnit Kind = iota + 1
	KindBool
	KindInt64
	KindNumeric
	KindText
	KindParty
	KindContractID
	KindTimestamp
	KindDate
	KindOptional
	KindList
	KindTextMap
	KindGenMap
	KindRecord
	KindVariant
	KindEnum
)

var kindNames = [...]string{
	KindUnit: "unit", KindBool: "bool", KindInt64: "int64", KindNumeric: "numeric",
	KindText: "text", KindParty: "party", KindContractID: "contractId",
	KindTimestamp: "timestamp", KindDate: "date", KindOptional: "optional", KindList: "list",
	KindTextMap: "textMap", KindGenMap: "genMap", KindRecord: "record",
	KindVariant: "variant", KindEnum: "enum",
}

// String is the kind's member name in protobuf_json, for example "contractId".
func (k Kind) String() string {
	if int(k) >= len(kindNames) || k == 0 {
		return "unknown"
	}
	return kindNames[k]
}

// kindOf is the inverse of String; 0 if there is no such kind.
func kindOf(name []byte) Kind {
	switch string(name) {
	case "record":
		return KindRecord
	case "party":
		return KindParty
	case "numeric":
		return KindNumeric
	case "contractId":
		return KindContractID
	case "text":
		return KindText
	case "int64":
		return KindInt64
	case "optional":
		return KindOptional
	case "list":
		return KindList
	case "timestamp":
		return KindTimestamp
	case "variant":
		return KindVariant
	case "bool":
		return KindBool
	case "textMap":
		return KindTextMap
	case "genMap":
		return KindGenMap
	case "enum":
		return KindEnum
	case "unit":
		return KindUnit
	case "date":
		return KindDate
	}
	return 0
}

// Type is the type of a value. Types may refer to themselves. A Type is not changed once
// it is in use, and is then safe for concurrent use.
type Type struct {
	Kind Kind
	Name string // of a record, variant or enum, for people; may be empty

	// Scale is how many digits a numeric has after its point.
	Scale int

	Elem *Type // of an optional, a list, the values of a text map or gen map
	Key  *Type // of a gen map

	// Fields of a record in the order of protobuf_json, or the constructors of a variant
	// with the types of their content, or those of an enum without types.
	Fields []Field

	// byLabel holds the indexes of Fields in the byte order of their labels.
	byLabel []int
}

// Field is a field of a record or a constructor of a variant.
type Field struct {
	Label string
	Type  *Type

	quoted []byte // Label as a JSON string; only in records
}

// Record returns a record type. The labels must differ.
func Record(fields ...Field) *Type {
	t := &Type{Kind: KindRecord}
	t.SetFields(fields)
	return t
}

// Optional returns the type of optional values of elem; elem may be optional too.
func Optional(elem *Type) *Type { return &Type{Kind: KindOptional, Elem: elem} }

// List returns the type of lists of elem.
func List(elem *Type) *Type { return &Type{Kind: KindList, Elem: elem} }

// TextMap returns the type of maps from text to elem.
func TextMap(elem *Type) *Type { return &Type{Kind: KindTextMap, Elem: elem} }

// GenMap returns the type of maps from key to elem.
func GenMap(key, elem *Type) *Type { return &Type{Kind: KindGenMap, Key: key, Elem: elem} }

// Variant returns a variant type with the given constructors.
func Variant(constructors ...Field) *Type {
	return &Type{Kind: KindVariant, Fields: constructors}
}

// Scalar returns the type of a kind without parts: all but optional, list, the maps, record
// and variant. A numeric has the scale of the network's amounts.
func Scalar(k Kind) *Type {
	t := &Type{Kind: k}
	if k == KindNumeric {
		t.Scale = numericScale
	}
	return t
}

// Numeric returns the type of numbers with so many digits after the point, at most 37.
func Numeric(scale int) *Type { return &Type{Kind: KindNumeric, Scale: scale} }

// SetFields makes a record of the fields, whose labels must differ. It is for types that refer to
// themselves: afterwards they are in use.
func (t *Type) SetFields(fields []Field) {
	t.Fields = fields
	t.byLabel = make([]int, len(fields))
	for i := range t.byLabel {
		t.byLabel[i] = i
		fields[i].quoted = jsonscan.AppendString(nil, []byte(fields[i].Label))
	}
	slices.SortFunc(t.byLabel, func(a, b int) int {
		return strings.Compare(fields[a].Label, fields[b].Label)
	})
}

// fieldAt returns the field with the label, which is most often field i, or nil.
func (t *Type) fieldAt(i int, label []byte) *Field {
	if i < len(t.Fields) && t.Fields[i].Label == string(label) {
		return &t.Fields[i]
	}
	return t.constructor(label)
}

// constructor returns the field or constructor with the label, or nil.
func (t *Type) constructor(label []byte) *Field {
	for i := range t.Fields {
		if t.Fields[i].Label == string(label) {
			return &t.Fields[i]
		}
	}
	return nil
}

func (t *Type) isUnit() bool {
	return t.Kind == KindUnit || t.Kind == KindRecord && len(t.Fields) == 0
}
