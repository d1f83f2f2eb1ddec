package store

// NodeEvents are rows of table events of a node's own stream, by offset: without the
// columns that repeat what stands in the update, of which each costs time to read. Event ids
// that follow from the update's id are empty.
type NodeEvents struct{ Events }

// NewNodeEvents returns a block without rows.
func NewNodeEvents() *NodeEvents { return &NodeEvents{*NewEvents()} }

func (b *NodeEvents) columns() []column {
	return append([]column{
		{"node_offset", &b.offset}, {"node", &b.node}, {"kind", b.kind}, {"event_id", &b.eventID},
		{"template_id", b.template}, {"package_name", b.packageName}, {"created_at", b.createdAt},
		{"signatories", b.signatories}, {"observers", b.observers}, {"choice", b.choice}, {"interface_id", b.iface},
		{"consuming", &b.consuming}, {"acting_parties", b.acting}, {"witness_parties", b.witnesses},
		{"acs_delta", &b.acsDelta}, {"last_descendant", &b.lastDescendant}, {"extras", &b.extras},
	}, b.body.columns()...)
}
