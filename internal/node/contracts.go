package node

import (
	"context"
	"errors"
	"net/url"
	"strconv"
)

const activeOperation = "/v2/state/active-contracts"

// ActiveContract is one of a party's active contracts, with the blob by which others can use
// it.
type ActiveContract struct {
	Created
	SynchronizerID string
}

// ActiveContracts returns up to limit active contracts of a template, "#package:Module:Entity",
// in which a party has a stake, as of now. limit must not exceed the node's own.
func (c *Client) ActiveContracts(ctx context.Context, party, templateID string, limit int) ([]ActiveContract, error) {
	return c.active(ctx, contractsOf(party, templateID), limit)
}

// ActiveViews returns up to limit active contracts that implement an interface, in which a party has a
// stake, with what the interface shows of them. There are none of an interface that the node does not
// know.
func (c *Client) ActiveViews(ctx context.Context, party, interfaceID string, limit int) ([]ActiveContract, error) {
	list, err := c.active(ctx, viewsOf(party, interfaceID), limit)
	var e *Error
	if errors.As(err, &e) && e.Node.Category == categoryNotFound {
		return nil, nil
	}
	return list, err
}

// categoryNotFound is that of errors about packages, templates and interfaces that are not there.
const categoryNotFound = 11

func (c *Client) active(ctx context.Context, format eventFormat, limit int) ([]ActiveContract, error) {
	end, err := c.LedgerEnd(ctx)
	if err != nil || end == 0 {
		return nil, err
	}
	var elements []struct {
		Entry struct {
			Active *struct {
				Created        Created `json:"createdEvent"`
				SynchronizerID string  `json:"synchronizerId"`
			} `json:"JsActiveContract"`
		} `json:"contractEntry"`
	}
	k := &call{
		method: "POST", operation: activeOperation, query: url.Values{"limit": {strconv.Itoa(limit)}},
		body: map[string]any{"activeAtOffset": end, "eventFormat": format},
	}
	if err := c.do(ctx, k, &elements); err != nil {
		return nil, err
	}
	var list []ActiveContract
	for _, e := range elements {
		if a := e.Entry.Active; a != nil {
			list = append(list, ActiveContract{a.Created, a.SynchronizerID})
		}
	}
	return list, nil
}
