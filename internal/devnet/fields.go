package devnet

// argument gives access to the fields of a record that arguments has read.
type argument struct{ v *value }

// at returns a field, nil if the record is too short for it.
func (f argument) at(label string) *value {
	for i, l := range f.v.shape.labels {
		if l == label && i < len(f.v.elems) {
			return &f.v.elems[i]
		}
	}
	return nil
}

// given returns the content of an optional field, nil without any.
func (f argument) given(label string) *value {
	if v := f.at(label); v != nil && len(v.elems) > 0 {
		return &v.elems[0]
	}
	return nil
}

func (f argument) party(label string) party { return party(f.at(label).num) }

func (f argument) numeric(label string) decimal { return decimal(f.at(label).num) }

func (f argument) int64(label string) int64 { return f.at(label).num }

func (f argument) time(label string) int64 { return f.at(label).num }

func (f argument) contract(label string) uint64 { return uint64(f.at(label).num) }

func (f argument) text(label string) string { return f.at(label).text }

func (f argument) list(label string) []value { return f.at(label).elems }

func (f argument) record(label string) argument { return argument{f.at(label)} }

func (f argument) relTime(label string) int64 { return f.record(label).int64("microseconds") }

func (f argument) optionalText(label string) string {
	if v := f.given(label); v != nil {
		return v.text
	}
	return ""
}

// metadata reads a field of type Metadata as alternating keys and values.
func (f argument) metadata(label string) []string {
	var meta []string
	for _, v := range f.record(label).list("values") {
		meta = append(meta, v.text)
	}
	return meta
}
