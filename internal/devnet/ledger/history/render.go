package history

import (
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Renderer writes batches as JSON. One renderer serves one goroutine.
type Renderer struct {
	Names       *model.Names
	SkipCompact bool

	Arena     model.Arena // of the create arguments of one node
	Sig, Obs  []model.Party
	order     []int32
	id        []byte // of the item in work
	effective []byte // its effective time, which is also the creation time of its contracts
	row       []byte
}

// Rendered is what a batch becomes: bytes to append to the data files, and index
// entries whose offsets count from the start of those bytes. Every item is
// followed by a comma.
type Rendered struct {
	data          [FileCount][]byte
	packed        [FileCount]packedBytes
	Entries       []Entry
	importEntries []importEntry
	tables        Tables
	node          nodeRendered
}

// Reset keeps the buffers unless one huge item made them too large to keep.
func (r *Rendered) Reset() {
	const keep = 16 << 20
	for i := range r.data {
		if r.data[i] = r.data[i][:0]; cap(r.data[i]) > keep {
			r.data[i], r.packed[i] = nil, packedBytes{}
		}
	}
	r.Entries, r.importEntries, r.tables = r.Entries[:0], r.importEntries[:0], Tables{}
	r.node = nodeRendered{entries: r.node.entries[:0], changes: r.node.changes[:0]}
}

// Pack compresses what was rendered.
func (r *Rendered) Pack() {
	for i := range r.data {
		r.packed[i].pack(r.data[i])
	}
}

// ImportOffset is the offset that is the same on every node.
const ImportOffset = `"offset":"000000000000000001",`

// Render appends a batch to out.
func (r *Renderer) Render(b *sim.Batch, out *Rendered) {
	for i := range b.Updates {
		r.update(out, &b.Updates[i])
	}
	for i := range b.Imports {
		r.importItem(out, &b.Imports[i], b.Migration)
	}
}

func (r *Renderer) update(out *Rendered, u *sim.Update) {
	if u.Public != nil {
		seen := *u
		seen.Nodes = u.Public
		u = &seen
	}
	protobuf, compact, side := &out.data[protobufFile], &out.data[CompactFile], &out.data[sideFile]
	e := Entry{Time: u.RecordTime, Kind: u.Kind, synchronizer: u.Synchronizer, external: u.External,
		protobuf: int64(len(*protobuf)), compact: int64(len(*compact)), side: int64(len(*side))}
	r.id = r.Names.IDs.AppendUpdateID(r.id[:0], u.Number)
	r.effective = schemas.AppendShortTime(r.effective[:0], schemas.Micros(u.EffectiveAt))
	switch u.Kind {
	case sim.TransactionUpdate:
		*protobuf, e.tail = r.transaction(*protobuf, u, model.ProtobufJSON, &out.tables[TableEvents])
		if !r.SkipCompact {
			*compact, _ = r.transaction(*compact, u, model.CompactJSON, nil)
		}
	case sim.AssignmentUpdate, sim.UnassignmentUpdate:
		*protobuf = r.reassignment(*protobuf, u, model.ProtobufJSON, &out.tables[TableEvents])
		if !r.SkipCompact {
			*compact = r.reassignment(*compact, u, model.CompactJSON, nil)
		}
	}
	if e.HasUpdate() {
		out.tables[TableUpdates].Add((*protobuf)[e.protobuf:])
		*protobuf = append(*protobuf, ',')
		if !r.SkipCompact {
			*compact = append(*compact, ',')
		}
	}
	if u.Verdict != nil {
		*side, e.extras = r.sideData(*side, u, &out.tables)
	}
	out.Entries = append(out.Entries, e)
}

// transaction appends a transaction item in its V2 form and returns the length of
// its tail, before which V1 has the offset. Each node is digested on the way.
func (r *Renderer) transaction(dst []byte, u *sim.Update, enc model.Encoding, rows *schemas.Digest) ([]byte, uint16) {
	dst = append(append(append(dst, `{"effective_at":"`...), r.effective...), `","events_by_id":{`...)
	r.order = AppendTextOrder(r.order[:0], len(u.Nodes))
	for _, n := range r.order {
		dst = append(r.eventID(dst, int(n)), ':')
		start := len(dst)
		dst = r.node(dst, u, int(n), enc)
		if rows != nil {
			rows.Add(dst[start:])
		}
		dst = append(dst, ',')
	}
	dst = append(model.Closing(dst, '}'), ',')
	if u.External {
		dst = model.AppendHash(append(dst, `"external_transaction_hash":"`...), r.Names.IDs.Hashes.Hash(u.Number))
		dst = append(dst, `",`...)
	}
	dst = append(dst, `"migration_id":`...)
	dst = append(strconv.AppendInt(dst, u.Migration, 10), ',')
	tail := len(dst)
	dst = schemas.AppendRecordTime(append(dst, `"record_time":"`...), schemas.Micros(u.RecordTime))
	dst = append(dst, `","root_event_ids":[`...)
	for n := int32(0); int(n) < len(u.Nodes); n = u.Nodes[n].End {
		dst = append(r.eventID(dst, int(n)), ',')
	}
	dst = append(model.Closing(dst, ']'), `,"synchronizer_id":"`...)
	dst = append(append(dst, r.Names.Synchronizers[u.Synchronizer]...), `","update_id":"`...)
	dst = append(append(dst, r.id...), `","workflow_id":`...)
	dst = append(model.AppendString(dst, u.Workflow), '}')
	return dst, uint16(len(dst) - tail)
}

// AppendTextOrder appends 0..n-1 in the order of their decimal text: 0, 1, 10, 11, 2...
func AppendTextOrder(dst []int32, n int) []int32 {
	if n > 0 {
		dst = append(dst, 0)
	}
	for first := 1; first <= 9; first++ {
		dst = appendWithPrefix(dst, first, n)
	}
	return dst
}

func appendWithPrefix(dst []int32, prefix, n int) []int32 {
	if prefix >= n {
		return dst
	}
	dst = append(dst, int32(prefix))
	for digit := range 10 {
		dst = appendWithPrefix(dst, prefix*10+digit, n)
	}
	return dst
}

func (r *Renderer) eventID(dst []byte, n int) []byte {
	dst = append(append(append(dst, '"'), r.id...), ':')
	return append(strconv.AppendInt(dst, int64(n), 10), '"')
}

func (r *Renderer) node(dst []byte, u *sim.Update, at int, enc model.Encoding) []byte {
	n := &u.Nodes[at]
	if n.Choice == "" {
		return r.created(dst, n.Contract, at, r.effective, enc)
	}
	return r.exercised(dst, u, at, enc)
}

func (r *Renderer) created(dst []byte, c *model.Contract, at int, createdAt []byte, enc model.Encoding) []byte {
	dst = append(r.Created1(dst, c, createdAt, enc), `,"event_id":`...)
	dst = append(r.eventID(dst, at), `,"event_type":"created_event"`...)
	return r.Created2(dst, c)
}

// Created1 and created2 are the members of a created event before and after those
// that name the event. Together they describe an active contract.
func (r *Renderer) Created1(dst []byte, c *model.Contract, createdAt []byte, enc model.Encoding) []byte {
	dst = r.Names.IDs.AppendContractID(append(dst, `{"contract_id":"`...), c.Number)
	r.Arena.Reset()
	arguments := c.Payload.Arguments(&r.Arena, c.Version)
	dst = enc.AppendValue(append(dst, `","create_arguments":`...), r.Names, &arguments)
	return append(append(append(dst, `,"created_at":"`...), createdAt...), '"')
}

// Created2 appends the members behind those of Created1.
func (r *Renderer) Created2(dst []byte, c *model.Contract) []byte {
	r.Sig, r.Obs = c.Payload.Stakeholders(r.Sig[:0], r.Obs[:0])
	dst = r.Parties(append(dst, `,"observers":`...), r.Names.SortParties(r.Obs))
	dst = append(append(dst, `,"package_name":"`...), c.Template.Pkg.Name...)
	dst = r.Parties(append(dst, `","signatories":`...), r.Names.SortParties(r.Sig))
	dst = append(dst, `,"template_id":"`...)
	return append(append(dst, r.Names.TemplateIDs[c.Template.Number][c.Version]...), `"}`...)
}

// Parties appends a list of parties.
func (r *Renderer) Parties(dst []byte, ps []model.Party) []byte {
	dst = append(dst, '[')
	for _, p := range ps {
		dst = append(model.AppendPlain(dst, r.Names.Name(p)), ',')
	}
	return model.Closing(dst, ']')
}

func (r *Renderer) exercised(dst []byte, u *sim.Update, at int, enc model.Encoding) []byte {
	n := &u.Nodes[at]
	dst = r.Parties(append(dst, `{"acting_parties":`...), n.Actors)
	dst = append(dst, `,"child_event_ids":[`...)
	for child := int32(at + 1); child < n.End; child = u.Nodes[child].End {
		dst = append(r.eventID(dst, int(child)), ',')
	}
	dst = append(model.Closing(dst, ']'), `,"choice":"`...)
	dst = append(append(dst, n.Choice...), `","choice_argument":`...)
	dst = enc.AppendValue(dst, r.Names, &n.Argument)
	dst = strconv.AppendBool(append(dst, `,"consuming":`...), n.Consuming)
	dst = r.Names.IDs.AppendContractID(append(dst, `,"contract_id":"`...), n.Contract.Number)
	dst = r.eventID(append(dst, `","event_id":`...), at)
	dst = append(dst, `,"event_type":"exercised_event","exercise_result":`...)
	dst = enc.AppendValue(dst, r.Names, &n.Result)
	if n.Iface != "" {
		dst = append(append(append(dst, `,"interface_id":"`...), n.Iface...), '"')
	}
	dst = append(append(dst, `,"package_name":"`...), n.Contract.Template.Pkg.Name...)
	dst = append(append(dst, `","template_id":"`...), r.Names.TemplateIDs[n.Contract.Template.Number][u.Version]...)
	return append(dst, `"}`...)
}

// reassignment appends one half of a reassignment; its form is the same in V1 and V2.
func (r *Renderer) reassignment(dst []byte, u *sim.Update, enc model.Encoding, rows *schemas.Digest) []byte {
	dst = append(dst, `{"event":`...)
	start := len(dst)
	if u.Kind == sim.AssignmentUpdate {
		dst = r.assignment(dst, u, enc)
	} else {
		dst = r.unassignment(dst, u)
	}
	if rows != nil {
		rows.Add(dst[start:])
	}
	dst = append(append(dst, ','), ImportOffset...)
	dst = schemas.AppendRecordTime(append(dst, `"record_time":"`...), schemas.Micros(u.RecordTime))
	return append(append(append(dst, `","update_id":"`...), r.id...), `"}`...)
}

func (r *Renderer) assignment(dst []byte, u *sim.Update, enc model.Encoding) []byte {
	re := &u.Reassignment
	r.row = schemas.AppendShortTime(r.row[:0], schemas.Micros(re.Contract.CreatedAt))
	dst = append(dst, `{"created_event":`...)
	dst = r.created(dst, re.Contract, 0, r.row, enc)
	dst = r.reassignmentHead(append(dst, ','), u)
	return r.reassignmentTail(dst, re)
}

func (r *Renderer) unassignment(dst []byte, u *sim.Update) []byte {
	dst = r.Names.IDs.AppendContractID(append(dst, `{"contract_id":"`...), u.Reassignment.Contract.Number)
	dst = r.reassignmentHead(append(dst, `",`...), u)
	return r.reassignmentTail(dst, &u.Reassignment)
}

func (r *Renderer) reassignmentHead(dst []byte, u *sim.Update) []byte {
	dst = strconv.AppendInt(append(dst, `"migration_id":`...), u.Migration, 10)
	return strconv.AppendInt(append(dst, `,"reassignment_counter":`...), int64(u.Reassignment.Counter), 10)
}

func (r *Renderer) reassignmentTail(dst []byte, re *sim.Reassignment) []byte {
	dst = append(append(dst, `,"source_synchronizer":"`...), r.Names.Synchronizers[re.Source]...)
	dst = append(append(dst, `","submitter":"`...), r.Names.Name(re.Submitter)...)
	dst = append(append(dst, `","target_synchronizer":"`...), r.Names.Synchronizers[re.Target]...)
	dst = model.AppendHash(append(dst, `","unassign_id":"`...), r.Names.IDs.Reassignments.Hash(re.Pair))
	return append(dst, `"}`...)
}

// importItem adds an import update, which only exists in V1 form.
func (r *Renderer) importItem(out *Rendered, i *sim.ImportUpdate, migration int64) {
	imports := &out.data[importsFile]
	start := len(*imports)
	dst := r.ImportUpdate(*imports, i, migration, model.ProtobufJSON)
	out.tables[tableImports].Add(dst[start:])
	*imports = append(dst, ',')
	out.importEntries = append(out.importEntries, importEntry{Number: i.Contract.Number, offset: int64(start)})
}

// ImportUpdate appends an import update in its V1 form.
func (r *Renderer) ImportUpdate(dst []byte, i *sim.ImportUpdate, migration int64, enc model.Encoding) []byte {
	c := i.Contract
	r.id = r.Names.IDs.AppendContractID(r.id[:0], c.Number)
	r.row = schemas.AppendShortTime(r.row[:0], schemas.Micros(c.CreatedAt))
	dst = append(dst, `{"effective_at":"`...)
	dst = schemas.AppendShortTime(dst, schemas.Micros(i.EffectiveAt))
	dst = append(r.eventID(append(dst, `","events_by_id":{`...), 0), ':')
	dst = r.created(dst, c, 0, r.row, enc)
	dst = strconv.AppendInt(append(dst, `},"migration_id":`...), migration, 10)
	dst = append(append(dst, ','), ImportOffset...)
	dst = schemas.AppendRecordTime(append(dst, `"record_time":"`...), schemas.MinMicros)
	dst = append(r.eventID(append(dst, `","root_event_ids":[`...), 0), `],"synchronizer_id":"`...)
	dst = append(append(dst, r.Names.Synchronizers[i.Synchronizer]...), `","update_id":"`...)
	dst = append(append(dst, r.id...), `","workflow_id":"canton-network-acs-import-`...)
	return append(append(dst, r.id...), `"}`...)
}

// ActiveContract appends a row of the active contracts table.
func (r *Renderer) ActiveContract(dst []byte, c *model.Contract) []byte {
	r.row = schemas.AppendShortTime(r.row[:0], schemas.Micros(c.CreatedAt))
	return r.Created2(r.Created1(dst, c, r.row, model.ProtobufJSON), c)
}
