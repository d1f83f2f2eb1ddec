package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/lease"
	"github.com/ledgerlake/ledgerlake/internal/app/probe"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/jobs"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Finding is one line of doctor.
type Finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
	// Optional findings do not make doctor fail.
	Optional bool `json:"optional,omitempty"`
	// Of a store, Schema is the version of its tables, 0 without tables, and KnownSchema the one that
	// this binary makes of it.
	Schema      *int64 `json:"schema,omitempty"`
	KnownSchema int64  `json:"known_schema,omitempty"`
}

// Doctor says what is installed and reachable, what is missing, and how to fix it.
func (a *App) Doctor(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	findings := []Finding{a.checkData(ctx), a.checkAddresses()}
	clickhouse := a.checkClickHouse(ctx)
	findings = append(findings, clickhouse)
	if clickhouse.OK && a.p.cfg.ClickHouseCluster != "" {
		findings = append(findings, a.checkCluster(ctx)...)
	}
	if clickhouse.OK {
		findings = append(findings, a.checkStore(ctx), a.checkWriters(ctx))
	}
	findings = append(findings, a.checkBucket(ctx), a.checkRedis(ctx), a.checkCatalog(), checkRedisServer())
	return append(findings, a.checkUpstreams(ctx)...)
}

// checkData writes and removes a file in the data folder, and looks for who uses it.
func (a *App) checkData(ctx context.Context) Finding {
	if err := probe.CheckFolder(a.p.cfg.Data, a.p.cfg.EngineFolder(), true); err != nil {
		return found("data folder", "", err)
	}
	_, statErr := os.Stat(a.p.cfg.Data)
	if err := probe.MakeFolder(a.p.cfg.Data); err != nil {
		return found("data folder", "", err)
	}
	if statErr != nil {
		_ = os.Remove(a.p.cfg.Data) // leave no trace; it is empty
	}
	f := Finding{Check: "data folder", OK: true, Detail: a.p.cfg.Data}
	if err := engine.CheckFree(ctx, a.p.cfg.EngineFolder()); err != nil {
		f.Detail += ", " + err.Error()
	}
	return f
}

// checkWriters says who writes the streams of a ClickHouse that is given. Whether they should is not
// known here.
func (a *App) checkWriters(ctx context.Context) Finding {
	f := Finding{Check: "writers", OK: true, Detail: "an embedded engine has the process that runs it", Optional: true}
	dsn := a.p.cfg.ClickHouseDSN
	if dsn == "" {
		return f
	}
	db, err := store.OpenOn(ctx, dsn, a.p.cfg.ClickHouseCluster)
	if err != nil {
		return Finding{Check: "writers", Detail: "unknown: the store cannot be read", Optional: true}
	}
	defer db.Close()
	holders, err := lease.Holders(ctx, db)
	if err != nil {
		return Finding{Check: "writers", Detail: err.Error(), Fix: "grant SELECT on the tables of the database and on system.tables", Optional: true}
	}
	f.Detail = "no process has written a stream since the server was started"
	var lines []string
	for _, h := range holders {
		state := fmt.Sprintf("showed life %s ago", h.Age.Round(100*time.Millisecond))
		if h.Released {
			state = "has ended"
		}
		lines = append(lines, fmt.Sprintf("%s: %s, %s", h.Stream, h.Process, state))
	}
	if len(lines) > 0 {
		f.Detail = strings.Join(lines, "; ")
	}
	return f
}

func (a *App) checkBucket(ctx context.Context) Finding {
	f := Finding{Check: "object storage"}
	if a.p.cfg.S3Endpoint == "" {
		f.OK, f.Detail = true, "embedded gateway below the data folder"
		return f
	}
	if err := probe.Reach(ctx, "s3-endpoint", a.p.cfg.S3Endpoint); err != nil {
		return found("object storage", "", err)
	}
	client, err := bucket.New(ctx, bucket.Config{
		Endpoint: a.p.cfg.S3Endpoint, Region: a.p.cfg.S3Region, Bucket: a.p.cfg.S3Bucket, Prefix: a.p.cfg.S3Prefix,
		AccessKey: a.p.cfg.S3AccessKey, SecretKey: a.p.cfg.S3SecretKey, PathStyle: true,
	})
	if err == nil {
		err = client.CheckBucket(ctx)
	}
	if errors.Is(err, bucket.ErrNoBucket) {
		f.OK, f.Detail = true, fmt.Sprintf("%s; bucket %s is created when it is first used", settings.MaskURL(a.p.cfg.S3Endpoint), a.p.cfg.S3Bucket)
		return f
	}
	if err != nil {
		return found("object storage", "", explainBucket(a.p.cfg, err))
	}
	f.OK, f.Detail = true, fmt.Sprintf("bucket %s at %s", a.p.cfg.S3Bucket, settings.MaskURL(a.p.cfg.S3Endpoint))
	return f
}

func (a *App) checkRedis(ctx context.Context) Finding {
	f := Finding{Check: "queue", OK: true, Detail: "in this process"}
	if a.p.cfg.RedisURL == "" {
		return f
	}
	queue, err := jobs.Open(ctx, jobs.Config{RedisURL: a.p.cfg.RedisURL, Log: a.p.log})
	if err != nil {
		return found("queue", "", err)
	}
	f.Detail = "Redis at " + settings.MaskURL(a.p.cfg.RedisURL)
	if err := queue.Close(); err != nil {
		return Finding{Check: "queue", Detail: err.Error()}
	}
	return f
}

// checkCatalog reads the template catalogue, with the operator's files if there are any.
func (a *App) checkCatalog() Finding {
	f := Finding{Check: "catalogue"}
	catalog, err := a.p.catalog()
	if err != nil {
		f.Detail, f.Fix = err.Error(), "correct the files or leave --catalog out; their format is in docs/formats/values.md"
		return f
	}
	own := values.Default().Templates()
	f.OK, f.Detail = true, fmt.Sprintf("%d templates of the network", own)
	if a.p.cfg.Catalog != "" {
		f.Detail += fmt.Sprintf(", %d more in %s", catalog.Templates()-own, a.p.cfg.Catalog)
	}
	return f
}

// checkUpstreams asks each scan service for its version, and a node for its own.
func (a *App) checkUpstreams(ctx context.Context) []Finding {
	if len(a.p.cfg.ScanURLs) == 0 && a.p.cfg.NodeURL == "" {
		return []Finding{{Check: "upstream", OK: true, Detail: "none given: up and demo run a simulated network"}}
	}
	var list []Finding
	for _, raw := range a.p.cfg.ScanURLs {
		list = append(list, found("upstream", "scan service "+settings.MaskURL(raw), probe.Scan(ctx, "scan-url", raw)))
	}
	if a.p.cfg.NodeURL != "" {
		list = append(list, found("upstream", "node "+settings.MaskURL(a.p.cfg.NodeURL), errors.Join(a.p.cfg.CheckTokenFile(), probe.Node(ctx, a.p.cfg.NodeURL))))
	}
	return list
}

// checkAddresses says which addresses that up and serve listen on are taken, which they are while
// one of them runs.
func (a *App) checkAddresses() Finding {
	f := found("addresses", a.p.cfg.Listen+" and the other addresses are free", errors.Join(a.listeners.bindAll(), a.p.close()))
	f.Optional = true
	return f
}

// found is a check that is fine, as detail says, unless err says what is wrong and how to mend it.
func found(check, detail string, err error) Finding {
	if err == nil {
		return Finding{Check: check, OK: true, Detail: detail}
	}
	what, fix := err.Error(), ""
	if i := strings.LastIndex(what, ": "); i > 0 {
		what, fix = what[:i], what[i+2:]
	}
	return Finding{Check: check, Detail: what, Fix: fix}
}

func checkRedisServer() Finding {
	f := Finding{Check: "redis-server", Optional: true}
	path, err := exec.LookPath("redis-server")
	if err != nil {
		f.Detail, f.Fix = "not on PATH; only tests against a real Redis need it", "apt-get install redis-server"
		return f
	}
	f.OK, f.Detail = true, path
	return f
}
