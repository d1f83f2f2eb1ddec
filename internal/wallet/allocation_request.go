package wallet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas/template"
)

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

// requestVersions are the interfaces of requests, the second version first.
var requestVersions = []string{template.AllocationRequestV2, template.AllocationRequest}

// Requests are contracts by which apps ask the actor for allocations, the oldest first, as an interface of
// the token standard shows them. One that implements both versions is shown by the second.
func (w *Allocations) Requests(ctx context.Context, actor Actor) ([]ShownContract, error) {
	found, err := w.requests(ctx, actor, requestVersions...)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b ShownContract) int {
		return slices.Index(requestVersions, versionOf(a)) - slices.Index(requestVersions, versionOf(b))
	})
	var list []ShownContract
	for _, r := range found {
		if !slices.ContainsFunc(list, func(other ShownContract) bool { return other.ID == r.ID }) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b ShownContract) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// versionOf is the interface by which a request is shown.
func versionOf(r ShownContract) string {
	i := slices.IndexFunc(requestVersions, func(name string) bool { return template.Entity(name) == template.Entity(r.InterfaceID) })
	return requestVersions[max(i, 0)]
}

// requests are those of some versions. The store has them if the node's stream was asked for their views
// when they were created; else the node is asked now.
func (w *Allocations) requests(ctx context.Context, actor Actor, versions ...string) (list []ShownContract, err error) {
	shown, known, err := w.reader.Shown(ctx, actor.Party, versions...)
	if err != nil {
		return nil, err
	}
	if !known {
		if shown, err = w.shownByNode(ctx, actor, versions); err != nil {
			return nil, err
		}
	}
	for _, r := range shown {
		var view allocationRequestView
		if err := json.Unmarshal(r.View, &view); err != nil {
			return nil, fmt.Errorf("reading request %s of an allocation: %w", r.ID, err)
		}
		if view.asks(actor.Party) {
			list = append(list, r)
		}
	}
	return list, nil
}

// shownByNode asks the node what interfaces show of the contracts of the actor.
func (w *Allocations) shownByNode(ctx context.Context, actor Actor, interfaces []string) (list []ShownContract, err error) {
	for _, name := range interfaces {
		contracts, err := w.ledger.ActiveViews(ctx, actor.Party, command(name), maxRequests)
		if err != nil {
			return nil, translate(err)
		}
		for _, c := range contracts {
			for _, view := range c.Views {
				if view.Status.Code == 0 && template.Entity(view.InterfaceID) == template.Entity(name) { // else the node cannot tell
					list = append(list, ShownContract{c.ContractID, view.InterfaceID, view.Value, c.CreatedAt, c.Blob})
				}
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
	if !slices.ContainsFunc(list, func(r ShownContract) bool { return r.ID == contractID }) {
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
