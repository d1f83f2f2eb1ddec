package model

// Argument gives access to the fields of a record that arguments has read.
type Argument struct{ V *Value }

// At returns a field, nil if the record is too short for it.
func (f Argument) At(label string) *Value {
	for i, l := range f.V.Shape.labels {
		if l == label && i < len(f.V.Elems) {
			return &f.V.Elems[i]
		}
	}
	return nil
}

// Given returns the content of an optional field, nil without any.
func (f Argument) Given(label string) *Value {
	if v := f.At(label); v != nil && len(v.Elems) > 0 {
		return &v.Elems[0]
	}
	return nil
}

// Party is a field of type party; the field must be there, here and below.
func (f Argument) Party(label string) Party { return Party(f.At(label).Num) }

func (f Argument) Numeric(label string) Decimal { return Decimal(f.At(label).Num) }

func (f Argument) Int64(label string) int64 { return f.At(label).Num }

func (f Argument) Time(label string) int64 { return f.At(label).Num }

func (f Argument) Contract(label string) uint64 { return uint64(f.At(label).Num) }

func (f Argument) Text(label string) string { return f.At(label).Text }

func (f Argument) List(label string) []Value { return f.At(label).Elems }

func (f Argument) Record(label string) Argument { return Argument{f.At(label)} }

func (f Argument) RelTime(label string) int64 { return f.Record(label).Int64("microseconds") }

// OptionalText is an optional text, "" for none.
func (f Argument) OptionalText(label string) string {
	if v := f.Given(label); v != nil {
		return v.Text
	}
	return ""
}

// Metadata reads a field of type Metadata as alternating keys and values.
func (f Argument) Metadata(label string) []string { return f.Record(label).Values() }

// Values reads a record of type Metadata as alternating keys and values.
func (f Argument) Values() []string {
	var meta []string
	for _, v := range f.List("values") {
		meta = append(meta, v.Text)
	}
	return meta
}
