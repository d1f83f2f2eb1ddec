package iceberg

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Numbers of columns never change: the column at place i of its row type, from 1 on, is
// column i, and the elements of a list are column elementIDs + i. A new column goes to the
// end of its row type, or gets its number otherwise.
const elementIDs = 500

// schema is the schema of a table as it stands in metadata and manifests.
type schema struct {
	Type   string  `json:"type"`
	ID     int     `json:"schema-id"`
	Fields []field `json:"fields"`
}

// field is a column.
type field struct {
	ID       int       `json:"id"`
	Name     string    `json:"name"`
	Required bool      `json:"required"`
	Type     fieldType `json:"type"`
	Doc      string    `json:"doc,omitempty"`
}

// fieldType is the type of a column: the name of a primitive type or, if list is not nil,
// a list of them.
type fieldType struct {
	name string
	list *listType
}

type listType struct {
	Type            string `json:"type"`
	ElementID       int    `json:"element-id"`
	Element         string `json:"element"`
	ElementRequired bool   `json:"element-required"`
}

// MarshalJSON writes a text or an object.
func (t fieldType) MarshalJSON() ([]byte, error) {
	if t.list != nil {
		return json.Marshal(t.list)
	}
	return json.Marshal(t.name)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *fieldType) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("{")) {
		t.list = new(listType)
		return json.Unmarshal(data, t.list)
	}
	return json.Unmarshal(data, &t.name)
}

// schemaOf derives the schema of a table from its row type, which also gives the Parquet
// schema.
func schemaOf(table schemas.ParquetTable) (schema, error) {
	row, err := rowType(table)
	if err != nil {
		return schema{}, err
	}
	s := schema{Type: "struct"}
	for i, column := range parquet.SchemaOf(reflect.New(row).Interface()).Fields() {
		kind, err := columnType(i+1, column)
		if err != nil {
			return schema{}, fmt.Errorf("table %s: %w", table, err)
		}
		f := row.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("parquet"), ","); name != column.Name() {
			return schema{}, fmt.Errorf("table %s: column %d is %s in Parquet and %s in its row", table, i+1, column.Name(), name)
		}
		s.Fields = append(s.Fields, field{ID: i + 1, Name: column.Name(), Required: column.Required(), Type: kind, Doc: f.Tag.Get("doc")})
	}
	return s, nil
}

func rowType(table schemas.ParquetTable) (reflect.Type, error) {
	switch table {
	case schemas.ParquetUpdates:
		return reflect.TypeFor[schemas.UpdateRow](), nil
	case schemas.ParquetEvents:
		return reflect.TypeFor[schemas.EventRow](), nil
	case schemas.ParquetACS:
		return reflect.TypeFor[schemas.ActiveContractRow](), nil
	case schemas.ParquetVerdicts:
		return reflect.TypeFor[schemas.VerdictRow](), nil
	case schemas.ParquetTraffic:
		return reflect.TypeFor[schemas.TrafficRow](), nil
	case schemas.ParquetAppActivity:
		return reflect.TypeFor[schemas.AppActivityRow](), nil
	case schemas.ParquetImports:
		return reflect.TypeFor[schemas.ImportRow](), nil
	case schemas.ParquetMovements:
		return reflect.TypeFor[schemas.MovementRow](), nil
	}
	return nil, fmt.Errorf("there is no table %q", table)
}

// columnType is the type of column id.
func columnType(id int, column parquet.Node) (fieldType, error) {
	if column.Leaf() {
		name, err := primitiveType(column.Type())
		return fieldType{name: name}, err
	}
	if _, ok := logicalType(column.Type()).(*format.ListType); !ok {
		return fieldType{}, fmt.Errorf("column %d is neither a value nor a list: %s", id, column)
	}
	element := column.Fields()[0].Fields()[0]
	name, err := primitiveType(element.Type())
	return fieldType{list: &listType{Type: "list", ElementID: elementIDs + id, Element: name, ElementRequired: element.Required()}}, err
}

func primitiveType(t parquet.Type) (string, error) {
	switch logical := logicalType(t).(type) {
	case *format.StringType:
		return "string", nil
	case *format.DecimalType:
		return fmt.Sprintf("decimal(%d, %d)", logical.Precision, logical.Scale), nil
	case *format.TimestampType:
		if _, micros := logical.Unit.Value.(*format.MicroSeconds); micros && logical.IsAdjustedToUTC {
			return "timestamptz", nil
		}
	case *format.IntType, nil:
		switch t.Kind() {
		case parquet.Boolean:
			return "boolean", nil
		case parquet.Int32:
			return "int", nil
		case parquet.Int64:
			return "long", nil
		}
	}
	return "", fmt.Errorf("no Iceberg type corresponds to Parquet's %s", t)
}

// logicalType is what a type of Parquet says its values mean, nil if it says nothing.
func logicalType(t parquet.Type) format.LogicalTypeValue {
	if logical := t.LogicalType(); logical != nil {
		return logical.Value
	}
	return nil
}

// column returns the number of a column.
func (s schema) column(name string) int {
	for _, f := range s.Fields {
		if f.Name == name {
			return f.ID
		}
	}
	panic("iceberg: no column " + name)
}

// lastID is the greatest number of a column.
func (s schema) lastID() int {
	last := 0
	for _, f := range s.Fields {
		last = max(last, f.ID)
		if f.Type.list != nil {
			last = max(last, f.Type.list.ElementID)
		}
	}
	return last
}

// mappedField says which names a column has in files whose columns have no numbers, as
// those of ours.
type mappedField struct {
	ID     int           `json:"field-id"`
	Names  []string      `json:"names"`
	Fields []mappedField `json:"fields,omitempty"`
}

func (s schema) nameMapping() []mappedField {
	mapping := make([]mappedField, 0, len(s.Fields))
	for _, f := range s.Fields {
		m := mappedField{ID: f.ID, Names: []string{f.Name}}
		if f.Type.list != nil {
			m.Fields = []mappedField{{ID: f.Type.list.ElementID, Names: []string{"element"}}}
		}
		mapping = append(mapping, m)
	}
	return mapping
}
