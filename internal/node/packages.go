package node

import (
	"context"
	"net/http"
	"net/url"
)

const (
	packagesOperation = "/v2/packages"
	packageOperation  = "/v2/packages/{package-id}"
)

// Packages returns the ids of the compiled packages that the node has, in no order.
func (c *Client) Packages(ctx context.Context) ([]string, error) {
	var answer struct {
		IDs []string `json:"packageIds"`
	}
	err := c.get(ctx, packagesOperation, nil, &answer)
	return answer.IDs, err
}

// Package returns the bytes of a compiled package, of which the id is the hash. Nothing is compared.
func (c *Client) Package(ctx context.Context, id string) ([]byte, error) {
	var payload []byte
	k := &call{method: http.MethodGet, operation: packageOperation, path: packagesOperation + "/" + url.PathEscape(id), bytes: &payload}
	err := c.do(ctx, k, nil)
	return payload, err
}
