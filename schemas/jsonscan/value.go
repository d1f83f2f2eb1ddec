package jsonscan

import "bytes"

// Value is one JSON value in canonical form, for those who look for few parts of it and do
// not mind the rest. A part that is not there, null, or of another kind than expected is nil,
// and so are all its parts: who needs one looks whether it is.
type Value []byte

// At returns the member of a member and so on of an object.
func (v Value) At(path ...string) Value {
	for _, name := range path {
		v = v.member(name)
	}
	return v
}

// member goes through the members itself: those that it is given by EachMember cost an allocation.
func (v Value) member(name string) Value {
	c := NewCursor(v)
	c.open('{')
	for begun := false; c.more('}', begun); begun = true {
		key := c.Text()
		if c.next() != ':' {
			return nil
		}
		c.pos++
		if raw := c.Raw(); raw == nil || key >= name {
			if key != name {
				return nil
			}
			return notNull(raw)
		}
	}
	return nil
}

// EachMember calls so with the members of an object, by ascending key, until so returns false.
func (v Value) EachMember(so func(key string, value Value) bool) {
	if len(v) == 0 || v[0] != '{' {
		return
	}
	c := NewCursor(v)
	for m := c.Members(); m.Next(); {
		raw := c.Raw()
		if raw == nil || !so(m.Key(), notNull(raw)) {
			return
		}
	}
}

// Elements returns the elements of an array.
func (v Value) Elements() (list []Value) {
	if len(v) == 0 || v[0] != '[' {
		return nil
	}
	c := NewCursor(v)
	for l := c.List(); l.Next(); {
		raw := c.Raw()
		if raw == nil {
			return list
		}
		list = append(list, notNull(raw))
	}
	return list
}

// Text returns what a string stands for, "" if the value is none.
func (v Value) Text() string {
	if len(v) == 0 || v[0] != '"' {
		return ""
	}
	c := NewCursor(v)
	return c.Text()
}

// IsText reports whether the value is a string.
func (v Value) IsText() bool { return len(v) > 0 && v[0] == '"' }

// Variant returns constructor and content of a variant, {"tag":..,"value":..}.
func (v Value) Variant() (tag string, content Value) { return v.At("tag").Text(), v.At("value") }

func notNull(raw []byte) Value {
	if bytes.Equal(raw, []byte("null")) {
		return nil
	}
	return raw
}
