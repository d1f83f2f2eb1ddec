package validator

import (
	"context"

	"github.com/ledgerlake/ledgerlake/query"
)

// participantOperations are about the keys and the connections of the node, which its administration
// interface has and its ledger interface does not. The network's own validator asks the former; an
// existing one behind this server is asked instead.
func participantOperations(forward *forwarder) []operation {
	handle := func(ctx context.Context, c *caller) error {
		if forward != nil {
			return forward.send(ctx, c.Request)
		}
		// As the network's own validator answers when it cannot reach that interface.
		return query.Errorf(query.Unavailable, "Only the administration interface of the node has this, which this server does not ask; ask the node's own validator, or have requests forwarded to it.")
	}
	return []operation{
		{method: "GET", path: "/v0/admin/participant/identities", name: "participant_identities", access: operatorOnly, handle: handle},
		{method: "GET", path: "/v0/admin/participant/global-domain-connection-config", name: "connection_config", access: operatorOnly, handle: handle},
	}
}
