package scan

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// importTrack reads the import updates of one migration, in the order of their ids.
type importTrack struct {
	client      *Client
	migrationID int64
}

// Ids are contract ids: "00", then hex digits that are spread evenly. The first
// importDigits of those are the coordinate, so that it fits an int64.
const (
	importPrefix = "00"
	importDigits = 15
	importSpace  = int64(1) << (4 * importDigits)
)

// coordinate reads the leading digits of an id. Ids of another form land on either
// end of the line or between its neighbours, in order, so slices are right for them
// too, if not even.
func (t *importTrack) coordinate(p schemas.Position) int64 {
	id, ok := strings.CutPrefix(p.UpdateID, importPrefix)
	if !ok {
		if p.UpdateID < importPrefix {
			return -1
		}
		return importSpace
	}
	c := int64(0)
	for i := range importDigits {
		digit := int64(0)
		if i < len(id) {
			switch b := id[i]; {
			case b < '0':
				return c << (4 * (importDigits - i))
			case b <= '9':
				digit = int64(b - '0')
			case b < 'a':
				return (c<<4+10)<<(4*(importDigits-i-1)) - 1
			case b <= 'f':
				digit = int64(b-'a') + 10
			default:
				return (c+1)<<(4*(importDigits-i)) - 1
			}
		}
		c = c<<4 + digit
	}
	return c
}

// position is the text of coordinate c, with as many digits as that has.
func (t *importTrack) position(c int64) schemas.Position {
	p := schemas.Position{MigrationID: t.migrationID, RecordTime: schemas.MinMicros}
	switch {
	case c >= importSpace:
		p.UpdateID = afterAllIDs
	case c >= 0:
		digits := strconv.FormatInt(c, 16)
		p.UpdateID = importPrefix + strings.Repeat("0", importDigits-len(digits)) + digits
	}
	return p
}

func (t *importTrack) fetch(ctx context.Context, after, upTo schemas.Position, o fetchOptions) (chunk, error) {
	id := after.UpdateID
	if after.MigrationID != t.migrationID {
		id = ""
	}
	page, err := t.client.ImportUpdates(ctx, ImportsRequest{MigrationID: t.migrationID, AfterUpdateID: id, Limit: o.size, reserve: o.reserve, expect: o.expect})
	if err != nil {
		return chunk{}, err
	}
	items, err := page.Items()
	if err == nil {
		err = checkAscending(items, after, t.check)
	}
	if err != nil {
		return chunk{}, malformed(t.client, importUpdatesOperation, after, err)
	}
	c := cut(items, upTo)
	c.bytes = int64(len(page.Body))
	c.covered = after
	switch {
	case len(c.items) > 0:
		c.covered = c.items[len(c.items)-1].Position()
	case len(items) == 0:
		c.done, c.end = true, true
	}
	return c, nil
}

func (t *importTrack) check(it *schemas.Item) error {
	u := it.Update
	switch {
	case !u.IsImport():
		return fmt.Errorf("update %s among the import updates has the record time %s", u.UpdateID, u.RecordTime)
	case u.MigrationID != t.migrationID:
		return fmt.Errorf("import update %s belongs to migration %d, not %d", u.UpdateID, u.MigrationID, t.migrationID)
	case len(u.Events) != 1 || u.Events[0].Kind != schemas.Created:
		return fmt.Errorf("import update %s is not one created event", u.UpdateID)
	}
	return nil
}
