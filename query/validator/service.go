package validator

import (
	"context"
	"time"
)

// service says what runs here and whether it can answer.
type service struct {
	cfg   *Config
	start time.Time
}

func (s *service) operations() []operation {
	return []operation{
		{method: "GET", path: "/version", name: "version", access: public, handle: s.version},
		{method: "GET", path: "/readyz", name: "readyz", access: public, handle: s.readyz},
		{method: "GET", path: "/livez", name: "livez", access: public, handle: func(_ context.Context, c *caller) error { return c.Empty(200) }},
		{method: "GET", path: "/status", name: "status", access: public, handle: s.status},
		{method: "GET", path: "/v0/feature-support", name: "feature_support", access: anyUser, handle: featureSupport},
	}
}

func (s *service) version(_ context.Context, c *caller) error {
	return c.JSON(struct {
		Version  string `json:"version"`
		CommitTS string `json:"commit_ts"`
	}{s.cfg.Version, s.cfg.CommitTime.UTC().Format(time.RFC3339)})
}

// ready returns nil when requests can be answered.
func (s *service) ready(ctx context.Context) error {
	if err := s.cfg.Auth.Ready(ctx); err != nil {
		return err
	}
	return s.cfg.Health(ctx)
}

func (s *service) readyz(ctx context.Context, c *caller) error {
	if err := s.ready(ctx); err != nil {
		s.cfg.Log.WarnContext(ctx, "not ready", "request_id", c.ID(), "err", err)
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

func (s *service) status(ctx context.Context, c *caller) error {
	if err := s.ready(ctx); err != nil {
		return c.JSON(map[string]any{"not_initialized": map[string]bool{"active": true}})
	}
	ports := s.cfg.Ports
	if ports == nil {
		ports = map[string]int{}
	}
	return c.JSON(map[string]nodeStatus{"success": {
		ID: s.cfg.NodeID, Uptime: s.cfg.Now().Sub(s.start).Truncate(time.Second).String(), Ports: ports, Active: true,
	}})
}

// featureSupport tells what the packages of the network have today.
func featureSupport(_ context.Context, c *caller) error {
	return c.JSON(struct {
		TokenStandard bool `json:"token_standard"`
		Description   bool `json:"transfer_preapproval_description"`
	}{true, true})
}
