package devnet

import (
	"encoding/json"
	"reflect"
	"sync"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// The functions here decode what the network serves in canonical form several times as fast as
// encoding/json, which reads each nested text once per level. They return false for all else,
// which decode then leaves to encoding/json.

// elementsOf returns the elements of a list, or of the list that is the only member of an object.
func elementsOf(raw []byte, key string) (list []json.RawMessage, ok bool) {
	c := jsonscan.NewCursor(raw)
	if key == "" {
		list = elementsAt(&c)
	} else {
		for m := c.Members(); m.Next(); {
			if m.Key() != key {
				return nil, false
			}
			list = elementsAt(&c)
		}
	}
	c.End()
	return list, !c.Failed()
}

func elementsAt(c *jsonscan.Cursor) (list []json.RawMessage) {
	list = []json.RawMessage{}
	for l := c.List(); l.Next(); {
		list = append(list, c.Raw())
	}
	return list
}

// onlyMember returns the member of an object that has one.
func onlyMember(raw []byte) (key string, value json.RawMessage, ok bool) {
	c, members := jsonscan.NewCursor(raw), 0
	for m := c.Members(); m.Next(); members++ {
		key, value = m.Key(), c.Raw()
	}
	c.End()
	return key, value, members == 1 && !c.Failed()
}

func textsAt(c *jsonscan.Cursor) (list []string) {
	list = []string{}
	for l := c.List(); l.Next(); {
		list = append(list, c.Text())
	}
	return list
}

func membersAt(c *jsonscan.Cursor) map[string]json.RawMessage {
	members := map[string]json.RawMessage{}
	for m := c.Members(); m.Next(); {
		members[m.Key()] = c.Raw()
	}
	return members
}

// fieldsByType are the numbers of fields by the names in their json tags, of each struct that decode
// has filled.
var fieldsByType sync.Map // reflect.Type to map[string]int

func fieldsOf(typ reflect.Type) map[string]int {
	if known, ok := fieldsByType.Load(typ); ok {
		return known.(map[string]int)
	}
	fields := make(map[string]int)
	for i := range typ.NumField() {
		if name := typ.Field(i).Tag.Get("json"); name != "" {
			fields[name] = i
		}
	}
	fieldsByType.Store(typ, fields)
	return fields
}

// decode returns the struct that an object is, by its json tags.
func decode[T any](raw []byte) (v T, err error) {
	if decodeCanonical(raw, &v) {
		return v, nil
	}
	v = *new(T)
	err = json.Unmarshal(raw, &v)
	return v, err
}

func decodeCanonical[T any](raw []byte, into *T) bool {
	fields, row := fieldsOf(reflect.TypeFor[T]()), reflect.ValueOf(into).Elem()
	c := jsonscan.NewCursor(raw)
	for m := c.Members(); m.Next(); {
		i, ok := fields[m.Key()]
		if !ok {
			c.Raw()
			continue
		}
		switch field := row.Field(i).Addr().Interface().(type) {
		case *string:
			*field = c.Text()
		case *int64:
			*field = c.Int()
		case *bool:
			*field = c.Bool()
		case *[]string:
			*field = textsAt(&c)
		case *json.RawMessage:
			*field = c.Raw()
		case *map[string]json.RawMessage:
			*field = membersAt(&c)
		default:
			return false
		}
	}
	c.End()
	return !c.Failed()
}
