package validator

import (
	"context"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
)

// notOffered are operations of the network that this interface has no answer to: allocations.
var notOffered = []string{
	"POST /v2/allocations", "POST /v2/allocations/{contract_id}/withdraw",
	"GET /v0/wallet/token-standard/allocation-requests",
	"POST /v0/wallet/token-standard/allocation-requests/{contract_id}/reject", "POST /v2/wallet/token-standard/allocation-requests/{contract_id}/reject",
}

// secrets are operations that only the node itself can answer, for its administrators.
var secrets = []string{
	"GET /v0/admin/participant/identities", "GET /v0/admin/participant/global-domain-connection-config",
}

func notOfferedOperations() []operation {
	var ops []operation
	for _, list := range []struct {
		names  []string
		access access
	}{{notOffered, anyUser}, {secrets, operatorOnly}} {
		for _, name := range list.names {
			method, path, _ := strings.Cut(name, " ")
			ops = append(ops, operation{
				method: method, path: path, name: "not_offered." + strings.ToLower(method) + strings.ReplaceAll(path, "/", "."),
				access: list.access, handle: func(context.Context, *caller) error {
					return query.Errorf(query.Disabled, "This server does not offer %s.", path)
				},
			})
		}
	}
	return ops
}
