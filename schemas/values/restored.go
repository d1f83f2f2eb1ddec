package values

import (
	"bytes"
	"fmt"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// RestoreUpdate converts the values of an update in compact_json to protobuf_json, in the form in
// which a node stores them: optional fields at the end of a record that are none are left out. On
// error, which names the event and wraps one of this package, u is as it was.
//
// The result is what the compact form was made of, unless that had a form of its own: labels, type
// ids, trailing fields that are none, or entries of a text map in another order. Compact_json has none
// of these.
func (c *Catalog) RestoreUpdate(u *schemas.Update) error {
	events := make([]schemas.Event, len(u.Events))
	copy(events, u.Events)
	for i := range events {
		e := &events[i]
		var err error
		switch e.Kind {
		case schemas.Created:
			err = restoreValue(&e.Argument, c.Template(e.PackageName, e.TemplateID))
		case schemas.Exercised:
			err = restoreValue(&e.Argument, c.ChoiceArgument(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice))
			if err == nil {
				err = restoreValue(&e.Result, c.ChoiceResult(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice))
			}
		}
		if err != nil {
			return fmt.Errorf("event %s, %s %s: %w", e.EventID, e.TemplateID, e.Choice, err)
		}
	}
	u.Events, u.Encoding = events, schemas.ProtobufJSON
	return nil
}

// restoreValue converts a value, unless it is what a service wrote in place of one that it could not
// convert.
func restoreValue(value *[]byte, t *Type) (err error) {
	if len(*value) == 0 {
		return nil
	}
	if stored, ok := unwrapped(*value); ok {
		if !IsProtobuf(stored) {
			return fmt.Errorf("%w: the service could not convert it either", ErrUnknownType)
		}
		*value = stored
		return nil
	}
	*value, err = convertCanonical(nil, *value, t, (*converter).storedValue)
	return err
}

func (c *converter) storedValue(dst []byte, t *Type) ([]byte, error) {
	c.dropNones = true
	return c.protobufValue(dst, t)
}

// IsProtobuf reports whether a value in canonical form is in protobuf_json. It looks at the first key
// only: a record in compact_json would need a field of the name of a kind to pass.
func IsProtobuf(value []byte) bool {
	key, ok := bytes.CutPrefix(value, []byte(`{"`))
	end := bytes.IndexByte(key, '"')
	return ok && end > 0 && kindOf(key[:end]) != 0
}

// isNone reports whether a field of a record was converted to none.
func isNone(field []byte) bool { return bytes.Equal(field, []byte(`{"value":{"optional":{}}}`)) }
