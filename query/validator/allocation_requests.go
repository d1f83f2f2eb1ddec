package validator

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// requestsPath is where requests of allocations are, below a version of the token standard.
const requestsPath = "/wallet/token-standard/allocation-requests"

// allocationRequestOperations are contracts by which apps ask for allocations. What the interfaces of the
// token standard show of them comes from the node, which has the packages of apps: by its stream, or else
// it is asked.
func allocationRequestOperations() []operation {
	return []operation{
		{method: "GET", path: "/v0" + requestsPath, name: "allocation_requests", write: true, handle: listAllocationRequests},
		{method: "POST", path: "/v0" + requestsPath + "/{contract_id}/reject", name: "v0.reject_allocation_request", write: true, handle: byPath(rejectAllocationRequest)},
		{method: "POST", path: "/v2" + requestsPath + "/{contract_id}/reject", name: "v2.reject_allocation_request", write: true, handle: byPath(rejectAllocationRequestV2)},
	}
}

// listAllocationRequests lists them with the view of an interface as payload, and that interface in
// place of the template: it says which version the request is of.
func listAllocationRequests(ctx context.Context, c *caller) error {
	requests, err := c.commands.Allocations.Requests(ctx, c.actor())
	if err != nil {
		return refused(err)
	}
	list := make([]listedContract, len(requests))
	for i := range requests {
		r := &requests[i]
		list[i].Contract = &query.ContractView{
			ContractID: r.ID, CreatedAt: string(schemas.AppendShortTime(nil, schemas.MicrosOf(r.CreatedAt))), CreatedEventBlob: r.Blob,
			Payload: r.View, TemplateID: r.InterfaceID,
		}
	}
	return c.JSON(map[string][]listedContract{"allocation_requests": list})
}

func rejectAllocationRequest(ctx context.Context, c *caller, contractID string) error {
	result, err := c.commands.Allocations.RejectRequest(ctx, c.actor(), contractID)
	return metaAnswer(c, result, err)
}

func rejectAllocationRequestV2(ctx context.Context, c *caller, contractID string) error {
	result, err := c.commands.Allocations.RejectRequestV2(ctx, c.actor(), contractID)
	return metaAnswer(c, result, err)
}

func metaAnswer(c *caller, result wallet.AllocationResult, err error) error {
	if err != nil {
		return refused(err)
	}
	changed(c, result.Done)
	return c.JSON(map[string]map[string]string{"meta": orEmpty(result.Meta)})
}
