package query

import (
	"context"
	"log/slog"
	"time"
)

// Node serves what runs here and whether it can answer. All members but Ports are required.
type Node struct {
	ID, Version string
	CommitTime  time.Time
	// Ports are reported by /status, by the name of the interface.
	Ports map[string]int
	// Ready returns nil when requests can be answered, else the reason, which is logged but not
	// sent.
	Ready func(ctx context.Context) error
	Log   *slog.Logger
	// Started is when the process started, by Now.
	Started time.Time
	Now     func() time.Time
}

// Routes lists the probes. prefix begins their names, such as "scan.".
func (n *Node) Routes(prefix string) []Route {
	return []Route{
		{Method: "GET", Path: "/version", Name: prefix + "version", Handle: n.version, Probe: true},
		{Method: "GET", Path: "/readyz", Name: prefix + "readyz", Handle: n.readyz, Probe: true},
		{Method: "GET", Path: "/livez", Name: prefix + "livez", Handle: livez, Probe: true},
		{Method: "GET", Path: "/status", Name: prefix + "status", Handle: n.status, Probe: true},
	}
}

func (n *Node) version(_ context.Context, r *Request) error {
	return r.JSON(struct {
		Version  string `json:"version"`
		CommitTS string `json:"commit_ts"`
	}{n.Version, n.CommitTime.UTC().Format(time.RFC3339)})
}

func livez(_ context.Context, r *Request) error { return r.Empty(200) }

func (n *Node) readyz(ctx context.Context, r *Request) error {
	if err := n.Ready(ctx); err != nil {
		n.Log.WarnContext(ctx, "not ready", "request_id", r.ID(), "err", err)
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

func (n *Node) status(ctx context.Context, r *Request) error {
	if err := n.Ready(ctx); err != nil {
		return r.JSON(map[string]any{"not_initialized": map[string]bool{"active": true}})
	}
	ports := n.Ports
	if ports == nil {
		ports = map[string]int{}
	}
	uptime := n.Now().Sub(n.Started).Truncate(time.Second)
	return r.JSON(map[string]nodeStatus{"success": {ID: n.ID, Uptime: uptime.String(), Ports: ports, Active: true}})
}
