package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/jobs"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// finding is one line of doctor.
type finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
	// Optional findings do not make doctor fail.
	Optional bool `json:"optional,omitempty"`
}

func newDoctor(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "say what is installed and reachable, what is missing, and how to fix it",
		Example: "  ledgerlake doctor\n  ledgerlake doctor --clickhouse-dsn clickhouse://default@127.0.0.1:9000/default --json",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) doctor(ctx context.Context, asJSON bool) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	findings := []finding{
		a.checkData(), a.checkClickHouse(ctx), a.checkBucket(ctx), a.checkRedis(ctx), a.checkCatalog(), checkRedisServer(),
	}
	findings = append(findings, a.checkUpstreams(ctx)...)
	failed := 0
	for _, f := range findings {
		if !f.OK && !f.Optional {
			failed++
		}
	}
	if asJSON {
		report := map[string]any{"ok": failed == 0, "checks": findings}
		if err := json.NewEncoder(a.data).Encode(report); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	} else {
		a.printFindings(findings)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d checks failed: %w", failed, len(findings), errReported)
	}
	return nil
}

func (a *app) printFindings(findings []finding) {
	for _, f := range findings {
		mark := "ok     "
		switch {
		case !f.OK && f.Optional:
			mark = "absent "
		case !f.OK:
			mark = "FAILED "
		}
		fmt.Fprintf(a.stdout, "%s %-14s %s\n", mark, f.Check, f.Detail)
		if f.Fix != "" {
			fmt.Fprintf(a.stdout, "%23sfix: %s\n", "", f.Fix)
		}
	}
}

// checkData writes and removes a file in the data folder.
func (a *app) checkData() finding {
	f := finding{Check: "data folder", Detail: a.cfg.Data}
	_, statErr := os.Stat(a.cfg.Data)
	existed := statErr == nil
	err := os.MkdirAll(a.cfg.Data, 0o755)
	if err == nil {
		probe := filepath.Join(a.cfg.Data, ".doctor")
		if err = os.WriteFile(probe, []byte("x"), 0o600); err == nil {
			err = os.Remove(probe)
		}
		if !existed {
			_ = os.Remove(a.cfg.Data) // leave no trace; it is empty
		}
	}
	if err != nil {
		f.Detail, f.Fix = err.Error(), "choose a folder you can write to with --data"
		return f
	}
	f.OK = true
	return f
}

func (a *app) checkClickHouse(ctx context.Context) finding {
	f := finding{Check: "clickhouse"}
	dsn := a.cfg.ClickHouseDSN
	if dsn == "" {
		location, err := engine.Locate(a.cfg.Engine, nil)
		if err != nil {
			f.Detail, f.Fix = err.Error(), "run make setup, or give --engine or --clickhouse-dsn"
			return f
		}
		f.OK, f.Detail = true, fmt.Sprintf("embedded engine %s (found by %s)", location.Path, location.Source)
		return f
	}
	conn, err := engine.Open(ctx, dsn)
	if err != nil {
		f.Detail, f.Fix = err.Error(), "check --clickhouse-dsn and that the server runs"
		return f
	}
	defer conn.Close()
	v, err := conn.ServerVersion()
	if err != nil {
		f.Detail, f.Fix = err.Error(), "check --clickhouse-dsn and that the server runs"
		return f
	}
	f.OK, f.Detail = true, fmt.Sprintf("%s at %s", v, engine.MaskDSN(dsn))
	return f
}

func (a *app) checkBucket(ctx context.Context) finding {
	f := finding{Check: "object storage"}
	if a.cfg.S3Endpoint == "" {
		f.OK, f.Detail = true, "embedded gateway below the data folder"
		return f
	}
	client, err := bucket.New(ctx, bucket.Config{
		Endpoint: a.cfg.S3Endpoint, Region: a.cfg.S3Region, Bucket: a.cfg.S3Bucket, Prefix: a.cfg.S3Prefix,
		AccessKey: a.cfg.S3AccessKey, SecretKey: a.cfg.S3SecretKey, PathStyle: true,
	})
	if err == nil {
		_, err = client.List(ctx, "", "", 1)
	}
	if err != nil {
		f.Detail, f.Fix = err.Error(), "check --s3-endpoint, --s3-bucket and the keys"
		return f
	}
	f.OK, f.Detail = true, fmt.Sprintf("bucket %s at %s", a.cfg.S3Bucket, maskURL(a.cfg.S3Endpoint))
	return f
}

func (a *app) checkRedis(ctx context.Context) finding {
	f := finding{Check: "queue", OK: true, Detail: "in this process"}
	if a.cfg.RedisURL == "" {
		return f
	}
	queue, err := jobs.Open(ctx, jobs.Config{RedisURL: a.cfg.RedisURL, Log: a.log})
	if err != nil {
		return finding{Check: "queue", Detail: err.Error(), Fix: "check --redis-url and that the server runs"}
	}
	f.Detail = "Redis at " + maskURL(a.cfg.RedisURL)
	if err := queue.Close(); err != nil {
		return finding{Check: "queue", Detail: err.Error()}
	}
	return f
}

// checkCatalog reads the template catalogue, with the operator's files if there are any.
func (a *app) checkCatalog() finding {
	f := finding{Check: "catalogue"}
	catalog, err := a.catalog()
	if err != nil {
		f.Detail, f.Fix = err.Error(), "correct the files or leave --catalog out; their format is in docs/formats/values.md"
		return f
	}
	own := values.Default().Templates()
	f.OK, f.Detail = true, fmt.Sprintf("%d templates of the network", own)
	if a.cfg.Catalog != "" {
		f.Detail += fmt.Sprintf(", %d more in %s", catalog.Templates()-own, a.cfg.Catalog)
	}
	return f
}

// checkUpstreams asks each scan service for its version, and a node for its own.
func (a *app) checkUpstreams(ctx context.Context) []finding {
	if len(a.cfg.ScanURLs) == 0 && a.cfg.NodeURL == "" {
		return []finding{{Check: "upstream", OK: true, Detail: "none given: up and demo run a simulated network"}}
	}
	var list []finding
	for _, raw := range a.cfg.ScanURLs {
		list = append(list, checkUpstream(ctx, raw, "/version", "check --scan-url; it is the address under which /version and /v0/events are found"))
	}
	if a.cfg.NodeURL != "" {
		list = append(list, checkUpstream(ctx, a.cfg.NodeURL, "/v2/version", "check --node-url; it is the address under which /v2/version and /v2/updates are found"))
	}
	return list
}

func checkUpstream(ctx context.Context, base, path, fix string) finding {
	f := finding{Check: "upstream"}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+path, nil)
	if err == nil {
		var response *http.Response
		if response, err = http.DefaultClient.Do(request); err == nil {
			f.Detail = fmt.Sprintf("%s answers %d to %s", maskURL(base), response.StatusCode, path)
			f.OK = response.StatusCode == http.StatusOK
			err = response.Body.Close()
		}
	}
	if err != nil {
		f.OK, f.Detail = false, err.Error()
	}
	if !f.OK {
		f.Fix = fix
	}
	return f
}

func checkRedisServer() finding {
	f := finding{Check: "redis-server", Optional: true}
	path, err := exec.LookPath("redis-server")
	if err != nil {
		f.Detail, f.Fix = "not on PATH; only tests against a real Redis need it", "apt-get install redis-server"
		return f
	}
	f.OK, f.Detail = true, path
	return f
}
