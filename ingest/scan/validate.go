package scan

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
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

// inProtobuf converts the values of an update to protobuf_json if they are in compact_json: an upstream
// that does not know the parameter answers in that. Values of types that the catalogue lacks are an
// error: without their types they are lost for good.
func inProtobuf(u *schemas.Update, catalog *values.Catalog) error {
	for i := range u.Events {
		e := &u.Events[i]
		ok := values.IsProtobuf(e.Argument)
		if e.Kind == schemas.Created {
			ok = bytes.HasPrefix(e.Argument, []byte(`{"record":{`))
		}
		if ok {
			continue
		}
		u.Encoding = schemas.CompactJSON
		if err := catalog.RestoreUpdate(u); err != nil {
			return fmt.Errorf("%w: the values of event %s are not in the requested encoding, %s, and cannot be converted; give the missing types with ledgerlake package add or --catalog: %w",
				schemas.ErrMalformed, e.EventID, schemas.ProtobufJSON, err)
		}
		return nil
	}
	return nil
}

// malformed reports a page that does not follow the interface.
func malformed(c *Client, operation string, after schemas.Position, cause error) error {
	if !errors.Is(cause, schemas.ErrMalformed) {
		cause = fmt.Errorf("%w: %w", schemas.ErrMalformed, cause)
	}
	return &Error{Upstream: c.Upstream(), Operation: operation, Cursor: after.String(), Err: cause}
}
