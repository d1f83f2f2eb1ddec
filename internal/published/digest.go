package published

import (
	"encoding/hex"
	"fmt"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Digester sums up the logical rows of a table. The canonical JSON of a row is what
// the network's interface says of it, so the digest can be had from a peer as well:
//
//	updates       element of /v2/updates
//	events        node in events_by_id; event member of a reassignment
//	imports       element of import-updates
//	acs           active contract, without created_in_update_id
//	verdicts      verdict member of an event
//	traffic       {"traffic_summary":...,"update_id":...}
//	app_activity  {"app_activity_records":...,"update_id":...}
//	movements     an object with the columns; the network has no such row
//
// The tree is over the rows in their order, the sum in any.
type Digester struct {
	// Sum is over the rows so far.
	Sum  schemas.Digest
	tree schemas.MerkleTree
	buf  []byte

	spans []schemas.Span // of the events of an update
}

// Add takes in the row that was appended to d.buf[:0] and returns it; it is valid until
// the next one. The id is that of the row's update, or of an active contract.
func (d *Digester) Add(id string, row []byte) []byte {
	d.tree.Add(id, d.Sum.Add(row))
	d.buf = row[:0]
	return row
}

// Root returns the Merkle root over the rows so far, in hex.
func (d *Digester) Root() string {
	root := d.tree.Root()
	return hex.EncodeToString(root[:])
}

// Compare says how the rows differ from what the manifest says of the table, "" for not
// at all.
func (d *Digester) Compare(t Table) string {
	if d.Sum != t.Digest {
		return fmt.Sprintf("table %s has %s, its manifest says %s", t.Name, d.Sum, t.Digest)
	}
	if root := d.Root(); root != t.Root {
		return fmt.Sprintf("the rows of table %s have the Merkle root %s, its manifest says %s", t.Name, root, t.Root)
	}
	return ""
}

// AddHistory takes an update in, and its events into another Digester: the nodes of a
// transaction, or the event of a reassignment. Both are sums of the same JSON. It returns what
// add does.
func AddHistory(updates, events *Digester, u *schemas.Update) []byte {
	row, spans := schemas.AppendUpdateSpans(updates.buf, u, updates.spans[:0])
	updates.spans = spans
	for _, s := range spans {
		events.tree.Add(u.UpdateID, events.Sum.Add(row[s.From:s.To]))
	}
	return updates.Add(u.UpdateID, row)
}

// AddImport adds a row of table imports and returns its JSON, as AddHistory does.
func (d *Digester) AddImport(u *schemas.Update) []byte {
	return d.Add(u.UpdateID, schemas.AppendUpdate(d.buf, u, schemas.UpdateForm{WithOffset: true}))
}

// AddActiveContract adds a row of table acs.
func (d *Digester) AddActiveContract(e *schemas.Event) {
	d.Add(e.ContractID, schemas.AppendActiveContract(d.buf, e, "", schemas.UpdateForm{}))
}

// AddVerdict adds a row of table verdicts.
func (d *Digester) AddVerdict(v *schemas.Verdict) {
	d.Add(v.UpdateID, schemas.AppendVerdict(d.buf, v))
}

// AddTraffic adds a row of table traffic.
func (d *Digester) AddTraffic(updateID string, t *schemas.TrafficSummary) {
	d.Add(updateID, schemas.AppendTrafficRow(d.buf, updateID, t))
}

// AddAppActivity adds a row of table app_activity.
func (d *Digester) AddAppActivity(updateID string, a *schemas.AppActivity) {
	d.Add(updateID, schemas.AppendAppActivityRow(d.buf, updateID, a))
}

// AddMovement adds a row of table movements.
func (d *Digester) AddMovement(r *schemas.MovementRow) {
	d.Add(r.UpdateID, schemas.AppendMovement(d.buf, r))
}
