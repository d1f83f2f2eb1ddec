package validator

import (
	"context"
	"time"
)

func (a *API) serviceOperations() []operation {
	return []operation{
		{method: "GET", path: "/version", name: "version", access: public, handle: a.version},
		{method: "GET", path: "/readyz", name: "readyz", access: public, handle: a.readyz},
		{method: "GET", path: "/livez", name: "livez", access: public, handle: func(_ context.Context, c *caller) error { return c.Empty(200) }},
		{method: "GET", path: "/status", name: "status", access: public, handle: a.status},
		{method: "GET", path: "/v0/feature-support", name: "feature_support", access: anyUser, handle: a.featureSupport},
	}
}

func (a *API) version(_ context.Context, c *caller) error {
	return c.JSON(struct {
		Version  string `json:"version"`
		CommitTS string `json:"commit_ts"`
	}{a.cfg.Version, a.cfg.CommitTime.UTC().Format(time.RFC3339)})
}

// ready returns nil when requests can be answered.
func (a *API) ready(ctx context.Context) error {
	if err := a.cfg.Auth.Ready(ctx); err != nil {
		return err
	}
	return a.cfg.Health(ctx)
}

func (a *API) readyz(ctx context.Context, c *caller) error {
	if err := a.ready(ctx); err != nil {
		a.cfg.Log.WarnContext(ctx, "not ready", "request_id", c.ID(), "err", err)
		return c.Empty(503)
	}
	return c.Empty(200)
}

type nodeStatus struct {
	ID     string         `json:"id"`
	Uptime string         `json:"uptime"`
	Ports  map[string]int `json:"ports"`
	Active bool           `json:"active"`
}

func (a *API) status(ctx context.Context, c *caller) error {
	if err := a.ready(ctx); err != nil {
		return c.JSON(map[string]any{"not_initialized": map[string]bool{"active": true}})
	}
	ports := a.cfg.Ports
	if ports == nil {
		ports = map[string]int{}
	}
	return c.JSON(map[string]nodeStatus{"success": {
		ID: a.cfg.NodeID, Uptime: a.cfg.Now().Sub(a.start).Truncate(time.Second).String(), Ports: ports, Active: true,
	}})
}

// featureSupport tells what the packages of the network have today.
func (a *API) featureSupport(_ context.Context, c *caller) error {
	return c.JSON(struct {
		TokenStandard bool `json:"token_standard"`
		Description   bool `json:"transfer_preapproval_description"`
	}{true, true})
}
