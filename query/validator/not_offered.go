package validator

import (
	"context"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
)

// notOffered are operations of the network that this interface has no answer to: requests of allocations.
var notOffered = []string{
	"GET /v0/wallet/token-standard/allocation-requests",
	"POST /v0/wallet/token-standard/allocation-requests/{contract_id}/reject", "POST /v2/wallet/token-standard/allocation-requests/{contract_id}/reject",
}

func notOfferedOperations() []operation {
	var ops []operation
	for _, name := range notOffered {
		method, path, _ := strings.Cut(name, " ")
		ops = append(ops, operation{
			method: method, path: path, name: "not_offered." + strings.ToLower(method) + strings.ReplaceAll(path, "/", "."),
			access: anyUser, handle: func(context.Context, *caller) error {
				return query.Errorf(query.Disabled, "This server does not offer %s.", path)
			},
		})
	}
	return ops
}
