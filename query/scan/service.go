package scan

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
)

// service says what runs here and whether it can answer.
type service struct {
	cfg   *Config
	start time.Time
}

func (s *service) version(_ context.Context, r *query.Request) error {
	return r.JSON(struct {
		Version  string `json:"version"`
		CommitTS string `json:"commit_ts"`
	}{s.cfg.Version, s.cfg.CommitTime.UTC().Format(time.RFC3339)})
}

func (s *service) livez(_ context.Context, r *query.Request) error { return r.Empty(200) }

func (s *service) readyz(ctx context.Context, r *query.Request) error {
	if err := s.cfg.Health.Ready(ctx); err != nil {
		s.cfg.Log.WarnContext(ctx, "not ready", "request_id", r.ID(), "err", err)
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

func (s *service) status(ctx context.Context, r *query.Request) error {
	if err := s.cfg.Health.Ready(ctx); err != nil {
		return r.JSON(map[string]inactive{"not_initialized": {Active: true}})
	}
	ports := s.cfg.Ports
	if ports == nil {
		ports = map[string]int{}
	}
	return r.JSON(map[string]nodeStatus{"success": {
		ID: s.cfg.NodeID, Uptime: s.cfg.Now().Sub(s.start).Truncate(time.Second).String(), Ports: ports, Active: true,
	}})
}

// featureSupport has no members: none is guaranteed, and clients take a missing one
// for a feature that is not there.
func (s *service) featureSupport(_ context.Context, r *query.Request) error {
	return r.JSON(struct{}{})
}
