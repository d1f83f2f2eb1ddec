package scan

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// checkAscending makes sure that the items lie after the position after and that each
// follows the one before it.
func checkAscending(items []schemas.Item, after schemas.Position, check func(*schemas.Item) error) error {
	last := after
	for i := range items {
		p := items[i].Position()
		switch order := last.Compare(p); {
		case order == 0 && i > 0:
			return duplicate(&items[i-1], &items[i])
		case order == 0:
			return fmt.Errorf("the cursor does not advance: %s %s was returned again", p, p.UpdateID)
		case order > 0 && i == 0:
			return fmt.Errorf("the page begins at %s (%s), which is not after its cursor", p, p.UpdateID)
		case order > 0:
			return fmt.Errorf("history goes backwards: %s (%s) follows %s (%s)", p, p.UpdateID, last, last.UpdateID)
		}
		if err := check(&items[i]); err != nil {
			return err
		}
		last = p
	}
	return nil
}

// duplicate explains two items at one position.
func duplicate(a, b *schemas.Item) error {
	p := a.Position()
	x, y := schemas.Batch{Items: []schemas.Item{*a}}, schemas.Batch{Items: []schemas.Item{*b}}
	hashA, hashB := x.Hash(), y.Hash()
	if hashA == hashB {
		return fmt.Errorf("%s (%s) appears twice", p, p.UpdateID)
	}
	return fmt.Errorf("%s (%s) appears twice with different content, %s and %s", p, p.UpdateID, hashA, hashB)
}

func checkHistory(it *schemas.Item) error {
	if p := it.Position(); p.RecordTime == schemas.MinMicros {
		return fmt.Errorf("import update %s appears among the history", p.UpdateID)
	}
	return nil
}

// protobufKinds are the members of which a protobuf_json value has exactly one.
var protobufKinds = [...]string{
	"record", "unit", "party", "contractId", "text", "numeric", "int64", "bool", "timestamp",
	"date", "optional", "list", "variant", "enum", "textMap", "genMap",
}

// checkEncoding makes sure that an update's values are protobuf_json. An upstream that
// does not know the parameter answers in compact_json, which loses types for good.
func checkEncoding(u *schemas.Update) error {
	if u == nil {
		return nil
	}
	for i := range u.Events {
		e := &u.Events[i]
		ok := isProtobuf(e.Argument)
		if e.Kind == schemas.Created {
			ok = bytes.HasPrefix(e.Argument, []byte(`{"record":{`))
		}
		if !ok {
			return fmt.Errorf("the values of event %s are not in the requested encoding, %s", e.EventID, schemas.ProtobufJSON)
		}
	}
	return nil
}

// isProtobuf looks at the first key only: the members of other objects would have to
// carry these very names to pass, and the create arguments, which cannot, are
// checked as well.
func isProtobuf(value []byte) bool {
	key, ok := bytes.CutPrefix(value, []byte(`{"`))
	if !ok {
		return false
	}
	for _, kind := range protobufKinds {
		if len(key) > len(kind) && key[len(kind)] == '"' && string(key[:len(kind)]) == kind {
			return true
		}
	}
	return false
}

// malformed reports a page that does not follow the interface.
func malformed(c *Client, operation string, after schemas.Position, cause error) error {
	if !errors.Is(cause, schemas.ErrMalformed) {
		cause = fmt.Errorf("%w: %w", schemas.ErrMalformed, cause)
	}
	return &Error{Upstream: c.Upstream(), Operation: operation, Cursor: after.String(), Err: cause}
}
