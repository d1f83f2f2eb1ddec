package validator

import (
	"context"

	"github.com/ledgerlake/ledgerlake/query"
)

// serviceOperations say what runs here and whether it can answer.
func serviceOperations(cfg *Config) []operation {
	node := &query.Node{
		ID: cfg.NodeID, Version: cfg.Version, CommitTime: cfg.CommitTime, Ports: cfg.Ports, Log: cfg.Log, Started: cfg.Now(), Now: cfg.Now,
		Ready: func(ctx context.Context) error {
			if err := cfg.Auth.Ready(ctx); err != nil {
				return err
			}
			return cfg.Health(ctx)
		},
	}
	ops := []operation{{method: "GET", path: "/v0/feature-support", name: "feature_support", access: anyUser, handle: featureSupport}}
	for _, r := range node.Routes("") {
		ops = append(ops, operation{method: r.Method, path: r.Path, name: r.Name, access: public, handle: func(ctx context.Context, c *caller) error {
			return r.Handle(ctx, c.Request)
		}})
	}
	return ops
}

// featureSupport tells what the packages of the network have today.
func featureSupport(_ context.Context, c *caller) error {
	return c.JSON(struct {
		TokenStandard bool `json:"token_standard"`
		Description   bool `json:"transfer_preapproval_description"`
	}{true, true})
}
