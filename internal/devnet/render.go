package devnet

import (
	"strconv"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// renderer writes batches as JSON. One renderer serves one goroutine.
type renderer struct {
	names       *names
	skipCompact bool

	arena     arena // of the create arguments of one node
	sig, obs  []party
	order     []int32
	id        []byte // of the item in work
	effective []byte // its effective time, which is also the creation time of its contracts
	row       []byte
}

// rendered is what a batch becomes: bytes to append to the data files, and index
// entries whose offsets count from the start of those bytes. Every item is
// followed by a comma.
type rendered struct {
	data          [fileCount][]byte
	packed        [fileCount]packedBytes
	entries       []entry
	importEntries []importEntry
	tables        tables
	node          nodeRendered
}

// reset keeps the buffers unless one huge item made them too large to keep.
func (r *rendered) reset() {
	const keep = 16 << 20
	for i := range r.data {
		if r.data[i] = r.data[i][:0]; cap(r.data[i]) > keep {
			r.data[i], r.packed[i] = nil, packedBytes{}
		}
	}
	r.entries, r.importEntries, r.tables = r.entries[:0], r.importEntries[:0], tables{}
	r.node = nodeRendered{entries: r.node.entries[:0], changes: r.node.changes[:0]}
}

// pack compresses what was rendered.
func (r *rendered) pack() {
	for i := range r.data {
		r.packed[i].pack(r.data[i])
	}
}

// importOffset is the offset that is the same on every node.
const importOffset = `"offset":"000000000000000001",`

// render appends a batch to out.
func (r *renderer) render(b *batch, out *rendered) {
	for i := range b.updates {
		r.update(out, &b.updates[i])
	}
	for i := range b.imports {
		r.importItem(out, &b.imports[i], b.migration)
	}
}

func (r *renderer) update(out *rendered, u *update) {
	if u.public != nil {
		seen := *u
		seen.nodes = u.public
		u = &seen
	}
	protobuf, compact, side := &out.data[protobufFile], &out.data[compactFile], &out.data[sideFile]
	e := entry{time: u.recordTime, kind: u.kind, synchronizer: u.synchronizer, external: u.external,
		protobuf: int64(len(*protobuf)), compact: int64(len(*compact)), side: int64(len(*side))}
	r.id = r.names.ids.appendUpdateID(r.id[:0], u.number)
	r.effective = schemas.AppendShortTime(r.effective[:0], schemas.Micros(u.effectiveAt))
	switch u.kind {
	case transactionUpdate:
		*protobuf, e.tail = r.transaction(*protobuf, u, protobufJSON, &out.tables[tableEvents])
		if !r.skipCompact {
			*compact, _ = r.transaction(*compact, u, compactJSON, nil)
		}
	case assignmentUpdate, unassignmentUpdate:
		*protobuf = r.reassignment(*protobuf, u, protobufJSON, &out.tables[tableEvents])
		if !r.skipCompact {
			*compact = r.reassignment(*compact, u, compactJSON, nil)
		}
	}
	if e.hasUpdate() {
		out.tables[tableUpdates].Add((*protobuf)[e.protobuf:])
		*protobuf = append(*protobuf, ',')
		if !r.skipCompact {
			*compact = append(*compact, ',')
		}
	}
	if u.verdict != nil {
		*side, e.extras = r.sideData(*side, u, &out.tables)
	}
	out.entries = append(out.entries, e)
}

// transaction appends a transaction item in its V2 form and returns the length of
// its tail, before which V1 has the offset. Each node is digested on the way.
func (r *renderer) transaction(dst []byte, u *update, enc encoding, rows *schemas.Digest) ([]byte, uint16) {
	dst = append(append(append(dst, `{"effective_at":"`...), r.effective...), `","events_by_id":{`...)
	r.order = appendTextOrder(r.order[:0], len(u.nodes))
	for _, n := range r.order {
		dst = append(r.eventID(dst, int(n)), ':')
		start := len(dst)
		dst = r.node(dst, u, int(n), enc)
		if rows != nil {
			rows.Add(dst[start:])
		}
		dst = append(dst, ',')
	}
	dst = append(closing(dst, '}'), ',')
	if u.external {
		dst = appendHash(append(dst, `"external_transaction_hash":"`...), r.names.ids.hashes.hash(u.number))
		dst = append(dst, `",`...)
	}
	dst = append(dst, `"migration_id":`...)
	dst = append(strconv.AppendInt(dst, u.migration, 10), ',')
	tail := len(dst)
	dst = schemas.AppendRecordTime(append(dst, `"record_time":"`...), schemas.Micros(u.recordTime))
	dst = append(dst, `","root_event_ids":[`...)
	for n := int32(0); int(n) < len(u.nodes); n = u.nodes[n].end {
		dst = append(r.eventID(dst, int(n)), ',')
	}
	dst = append(closing(dst, ']'), `,"synchronizer_id":"`...)
	dst = append(append(dst, r.names.synchronizers[u.synchronizer]...), `","update_id":"`...)
	dst = append(append(dst, r.id...), `","workflow_id":`...)
	dst = append(appendString(dst, u.workflow), '}')
	return dst, uint16(len(dst) - tail)
}

// appendTextOrder appends 0..n-1 in the order of their decimal text: 0, 1, 10, 11, 2...
func appendTextOrder(dst []int32, n int) []int32 {
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

func (r *renderer) eventID(dst []byte, n int) []byte {
	dst = append(append(append(dst, '"'), r.id...), ':')
	return append(strconv.AppendInt(dst, int64(n), 10), '"')
}

func (r *renderer) node(dst []byte, u *update, at int, enc encoding) []byte {
	n := &u.nodes[at]
	if n.choice == "" {
		return r.created(dst, n.contract, at, r.effective, enc)
	}
	return r.exercised(dst, u, at, enc)
}

func (r *renderer) created(dst []byte, c *contract, at int, createdAt []byte, enc encoding) []byte {
	dst = append(r.created1(dst, c, createdAt, enc), `,"event_id":`...)
	dst = append(r.eventID(dst, at), `,"event_type":"created_event"`...)
	return r.created2(dst, c)
}

// created1 and created2 are the members of a created event before and after those
// that name the event. Together they describe an active contract.
func (r *renderer) created1(dst []byte, c *contract, createdAt []byte, enc encoding) []byte {
	dst = r.names.ids.appendContractID(append(dst, `{"contract_id":"`...), c.number)
	r.arena.reset()
	arguments := c.payload.arguments(&r.arena, c.version)
	dst = enc.appendValue(append(dst, `","create_arguments":`...), r.names, &arguments)
	return append(append(append(dst, `,"created_at":"`...), createdAt...), '"')
}

func (r *renderer) created2(dst []byte, c *contract) []byte {
	r.sig, r.obs = c.payload.stakeholders(r.sig[:0], r.obs[:0])
	dst = r.parties(append(dst, `,"observers":`...), r.names.sortParties(r.obs))
	dst = append(append(dst, `,"package_name":"`...), c.template.pkg.name...)
	dst = r.parties(append(dst, `","signatories":`...), r.names.sortParties(r.sig))
	dst = append(dst, `,"template_id":"`...)
	return append(append(dst, r.names.templateIDs[c.template.number][c.version]...), `"}`...)
}

func (r *renderer) parties(dst []byte, ps []party) []byte {
	dst = append(dst, '[')
	for _, p := range ps {
		dst = append(appendPlain(dst, r.names.name(p)), ',')
	}
	return closing(dst, ']')
}

func (r *renderer) exercised(dst []byte, u *update, at int, enc encoding) []byte {
	n := &u.nodes[at]
	dst = r.parties(append(dst, `{"acting_parties":`...), n.actors)
	dst = append(dst, `,"child_event_ids":[`...)
	for child := int32(at + 1); child < n.end; child = u.nodes[child].end {
		dst = append(r.eventID(dst, int(child)), ',')
	}
	dst = append(closing(dst, ']'), `,"choice":"`...)
	dst = append(append(dst, n.choice...), `","choice_argument":`...)
	dst = enc.appendValue(dst, r.names, &n.argument)
	dst = strconv.AppendBool(append(dst, `,"consuming":`...), n.consuming)
	dst = r.names.ids.appendContractID(append(dst, `,"contract_id":"`...), n.contract.number)
	dst = r.eventID(append(dst, `","event_id":`...), at)
	dst = append(dst, `,"event_type":"exercised_event","exercise_result":`...)
	dst = enc.appendValue(dst, r.names, &n.result)
	if n.iface != "" {
		dst = append(append(append(dst, `,"interface_id":"`...), n.iface...), '"')
	}
	dst = append(append(dst, `,"package_name":"`...), n.contract.template.pkg.name...)
	dst = append(append(dst, `","template_id":"`...), r.names.templateIDs[n.contract.template.number][u.version]...)
	return append(dst, `"}`...)
}

// reassignment appends one half of a reassignment; its form is the same in V1 and V2.
func (r *renderer) reassignment(dst []byte, u *update, enc encoding, rows *schemas.Digest) []byte {
	dst = append(dst, `{"event":`...)
	start := len(dst)
	if u.kind == assignmentUpdate {
		dst = r.assignment(dst, u, enc)
	} else {
		dst = r.unassignment(dst, u)
	}
	if rows != nil {
		rows.Add(dst[start:])
	}
	dst = append(append(dst, ','), importOffset...)
	dst = schemas.AppendRecordTime(append(dst, `"record_time":"`...), schemas.Micros(u.recordTime))
	return append(append(append(dst, `","update_id":"`...), r.id...), `"}`...)
}

func (r *renderer) assignment(dst []byte, u *update, enc encoding) []byte {
	re := &u.reassignment
	r.row = schemas.AppendShortTime(r.row[:0], schemas.Micros(re.contract.createdAt))
	dst = append(dst, `{"created_event":`...)
	dst = r.created(dst, re.contract, 0, r.row, enc)
	dst = r.reassignmentHead(append(dst, ','), u)
	return r.reassignmentTail(dst, re)
}

func (r *renderer) unassignment(dst []byte, u *update) []byte {
	dst = r.names.ids.appendContractID(append(dst, `{"contract_id":"`...), u.reassignment.contract.number)
	dst = r.reassignmentHead(append(dst, `",`...), u)
	return r.reassignmentTail(dst, &u.reassignment)
}

func (r *renderer) reassignmentHead(dst []byte, u *update) []byte {
	dst = strconv.AppendInt(append(dst, `"migration_id":`...), u.migration, 10)
	return strconv.AppendInt(append(dst, `,"reassignment_counter":`...), int64(u.reassignment.counter), 10)
}

func (r *renderer) reassignmentTail(dst []byte, re *reassignment) []byte {
	dst = append(append(dst, `,"source_synchronizer":"`...), r.names.synchronizers[re.source]...)
	dst = append(append(dst, `","submitter":"`...), r.names.name(re.submitter)...)
	dst = append(append(dst, `","target_synchronizer":"`...), r.names.synchronizers[re.target]...)
	dst = appendHash(append(dst, `","unassign_id":"`...), r.names.ids.reassignments.hash(re.pair))
	return append(dst, `"}`...)
}

// importItem adds an import update, which only exists in V1 form.
func (r *renderer) importItem(out *rendered, i *importUpdate, migration int64) {
	imports := &out.data[importsFile]
	start := len(*imports)
	dst := r.importUpdate(*imports, i, migration, protobufJSON)
	out.tables[tableImports].Add(dst[start:])
	*imports = append(dst, ',')
	out.importEntries = append(out.importEntries, importEntry{number: i.contract.number, offset: int64(start)})
}

// importUpdate appends an import update in its V1 form.
func (r *renderer) importUpdate(dst []byte, i *importUpdate, migration int64, enc encoding) []byte {
	c := i.contract
	r.id = r.names.ids.appendContractID(r.id[:0], c.number)
	r.row = schemas.AppendShortTime(r.row[:0], schemas.Micros(c.createdAt))
	dst = append(dst, `{"effective_at":"`...)
	dst = schemas.AppendShortTime(dst, schemas.Micros(i.effectiveAt))
	dst = append(r.eventID(append(dst, `","events_by_id":{`...), 0), ':')
	dst = r.created(dst, c, 0, r.row, enc)
	dst = strconv.AppendInt(append(dst, `},"migration_id":`...), migration, 10)
	dst = append(append(dst, ','), importOffset...)
	dst = schemas.AppendRecordTime(append(dst, `"record_time":"`...), schemas.MinMicros)
	dst = append(r.eventID(append(dst, `","root_event_ids":[`...), 0), `],"synchronizer_id":"`...)
	dst = append(append(dst, r.names.synchronizers[i.synchronizer]...), `","update_id":"`...)
	dst = append(append(dst, r.id...), `","workflow_id":"canton-network-acs-import-`...)
	return append(append(dst, r.id...), `"}`...)
}

// activeContract appends a row of the active contracts table.
func (r *renderer) activeContract(dst []byte, c *contract) []byte {
	r.row = schemas.AppendShortTime(r.row[:0], schemas.Micros(c.createdAt))
	return r.created2(r.created1(dst, c, r.row, protobufJSON), c)
}
