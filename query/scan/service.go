package scan

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
)

func (a *API) version(_ context.Context, r *query.Request) error {
	return r.JSON(struct {
		Version  string `json:"version"`
		CommitTS string `json:"commit_ts"`
	}{a.cfg.Version, a.cfg.CommitTime.UTC().Format(time.RFC3339)})
}

func (a *API) livez(_ context.Context, r *query.Request) error { return r.Empty(200) }

func (a *API) readyz(ctx context.Context, r *query.Request) error {
	if err := a.cfg.Health.Ready(ctx); err != nil {
		a.cfg.Log.WarnContext(ctx, "not ready", "request_id", r.ID(), "err", err)
		return r.Empty(503)
	}
	return r.Empty(200)
}

type nodeStatus struct {
	ID     string         `json:"id"`
	Uptime string         `json:"uptime"`
	Ports  map[string]int `json:"ports"`
	Active bool           `json:"active"`
}

type inactive struct {
	Active bool `json:"active"`
}

func (a *API) status(ctx context.Context, r *query.Request) error {
	if err := a.cfg.Health.Ready(ctx); err != nil {
		return r.JSON(map[string]inactive{"not_initialized": {Active: true}})
	}
	ports := a.cfg.Ports
	if ports == nil {
		ports = map[string]int{}
	}
	return r.JSON(map[string]nodeStatus{"success": {
		ID: a.cfg.NodeID, Uptime: a.cfg.Now().Sub(a.start).Truncate(time.Second).String(), Ports: ports, Active: true,
	}})
}

// featureSupport has no members: none is guaranteed, and clients take a missing one
// for a feature that is not there.
func (a *API) featureSupport(_ context.Context, r *query.Request) error { return r.JSON(struct{}{}) }
