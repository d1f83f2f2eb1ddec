package wallet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// AllocationRequest is a contract by which an app asks for allocations, as an interface of the token
// standard shows it.
type AllocationRequest struct {
	ID string
	// InterfaceID is that of either version, "package-id:Module:Entity", and View what it shows.
	InterfaceID string
	View        json.RawMessage
	CreatedAt   time.Time
	Blob        string
}

// allocationRequestView is what both versions show of who is asked.
type allocationRequestView struct {
	Legs map[string]struct {
		Sender string `json:"sender"`
	} `json:"transferLegs"`
	Allocations []struct {
		Authorizer struct {
			Owner string `json:"owner"`
		} `json:"authorizer"`
	} `json:"allocations"`
}

// asks reports whether a party is asked.
func (v *allocationRequestView) asks(party string) bool {
	for _, leg := range v.Legs {
		if leg.Sender == party {
			return true
		}
	}
	for _, a := range v.Allocations {
		if a.Authorizer.Owner == party {
			return true
		}
	}
	return false
}

// maxRequests is the most requests of a version that are listed: nodes give so many at once.
const maxRequests = 200

// Requests are the requests of allocations to the actor, the oldest first. The node is asked: only it
// knows the packages of apps. One that implements both versions is shown by the second.
func (w *Allocations) Requests(ctx context.Context, actor Actor) ([]AllocationRequest, error) {
	var list []AllocationRequest
	for _, name := range []string{template.AllocationRequestV2, template.AllocationRequest} {
		found, err := w.requests(ctx, actor, name)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			if !slices.ContainsFunc(list, func(other AllocationRequest) bool { return other.ID == r.ID }) {
				list = append(list, r)
			}
		}
	}
	slices.SortFunc(list, func(a, b AllocationRequest) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// requests are those of a version.
func (w *Allocations) requests(ctx context.Context, actor Actor, name string) (list []AllocationRequest, err error) {
	contracts, err := w.ledger.ActiveViews(ctx, actor.Party, command(name), maxRequests)
	if err != nil {
		return nil, translate(err)
	}
	for _, c := range contracts {
		for _, view := range c.Views {
			if view.Status.Code != 0 || template.Entity(view.InterfaceID) != template.Entity(name) {
				continue // the node cannot tell what it shows
			}
			var shown allocationRequestView
			if err := json.Unmarshal(view.Value, &shown); err != nil {
				return nil, fmt.Errorf("reading request %s of an allocation: %w", c.ContractID, err)
			}
			if shown.asks(actor.Party) {
				list = append(list, AllocationRequest{c.ContractID, view.InterfaceID, view.Value, c.CreatedAt, c.Blob})
			}
		}
	}
	return list, nil
}

const rejectRequestChoice = "AllocationRequest_Reject"

// RejectRequest rejects a request of the first version to the actor.
func (w *Allocations) RejectRequest(ctx context.Context, actor Actor, contractID string) (AllocationResult, error) {
	return w.reject(ctx, actor, contractID, template.AllocationRequest, map[string]any{"actor": actor.Party})
}

// RejectRequestV2 rejects a request of the second version to the actor.
func (w *Allocations) RejectRequestV2(ctx context.Context, actor Actor, contractID string) (AllocationResult, error) {
	return w.reject(ctx, actor, contractID, template.AllocationRequestV2, map[string]any{"actors": []string{actor.Party}})
}

func (w *Allocations) reject(ctx context.Context, actor Actor, contractID, name string, argument map[string]any) (AllocationResult, error) {
	list, err := w.requests(ctx, actor, name)
	if err != nil {
		return AllocationResult{}, err
	}
	if !slices.ContainsFunc(list, func(r AllocationRequest) bool { return r.ID == contractID }) {
		return AllocationResult{}, notFound("No such allocation request: %.80s", contractID)
	}
	argument["extraArgs"] = newExtraArgs()
	tx, done, err := w.submit(ctx, exerciseAs(actor.Party, name, contractID, rejectRequestChoice, argument))
	if err != nil {
		return AllocationResult{}, err
	}
	var result struct {
		Meta metadata `json:"meta"`
	}
	err = tx.Result(rejectRequestChoice, &result)
	return AllocationResult{Done: done, Meta: result.Meta.Values}, err
}
