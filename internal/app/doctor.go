package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
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
		a.checkData(ctx), a.checkAddresses(), a.checkClickHouse(ctx), a.checkBucket(ctx), a.checkRedis(ctx), a.checkCatalog(), checkRedisServer(),
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

// checkData writes and removes a file in the data folder, and looks for who uses it.
func (a *app) checkData(ctx context.Context) finding {
	if err := checkFolder(a.cfg.Data, a.cfg.EngineFolder(), true); err != nil {
		return found("data folder", "", err)
	}
	_, statErr := os.Stat(a.cfg.Data)
	if err := makeFolder(a.cfg.Data); err != nil {
		return found("data folder", "", err)
	}
	if statErr != nil {
		_ = os.Remove(a.cfg.Data) // leave no trace; it is empty
	}
	f := finding{Check: "data folder", OK: true, Detail: a.cfg.Data}
	if err := engine.CheckFree(ctx, a.cfg.EngineFolder()); err != nil {
		f.Detail += ", " + err.Error()
	}
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
		return found("clickhouse", "", err)
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
	if err := reach(ctx, "s3-endpoint", a.cfg.S3Endpoint); err != nil {
		return found("object storage", "", err)
	}
	client, err := bucket.New(ctx, bucket.Config{
		Endpoint: a.cfg.S3Endpoint, Region: a.cfg.S3Region, Bucket: a.cfg.S3Bucket, Prefix: a.cfg.S3Prefix,
		AccessKey: a.cfg.S3AccessKey, SecretKey: a.cfg.S3SecretKey, PathStyle: true,
	})
	if err == nil {
		err = client.CheckBucket(ctx)
	}
	if errors.Is(err, bucket.ErrNoBucket) {
		f.OK, f.Detail = true, fmt.Sprintf("%s; it makes bucket %s when it is first used", settings.MaskURL(a.cfg.S3Endpoint), a.cfg.S3Bucket)
		return f
	}
	if err != nil {
		return found("object storage", "", explainBucket(&a.cfg, err))
	}
	f.OK, f.Detail = true, fmt.Sprintf("bucket %s at %s", a.cfg.S3Bucket, settings.MaskURL(a.cfg.S3Endpoint))
	return f
}

func (a *app) checkRedis(ctx context.Context) finding {
	f := finding{Check: "queue", OK: true, Detail: "in this process"}
	if a.cfg.RedisURL == "" {
		return f
	}
	queue, err := jobs.Open(ctx, jobs.Config{RedisURL: a.cfg.RedisURL, Log: a.log})
	if err != nil {
		return found("queue", "", err)
	}
	f.Detail = "Redis at " + settings.MaskURL(a.cfg.RedisURL)
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
		list = append(list, found("upstream", "scan service "+settings.MaskURL(raw), reachScan(ctx, "scan-url", raw)))
	}
	if a.cfg.NodeURL != "" {
		list = append(list, found("upstream", "node "+settings.MaskURL(a.cfg.NodeURL), errors.Join(a.cfg.CheckTokenFile(), reachNode(ctx, a.cfg.NodeURL))))
	}
	return list
}

// checkAddresses says which addresses that up and serve listen on are taken, which they are while
// one of them runs.
func (a *app) checkAddresses() finding {
	s := newStack(a)
	f := found("addresses", a.cfg.Listen+" and those beside it are free", errors.Join(s.bindAll(), s.close()))
	f.Optional = true
	return f
}

// found is a check that is fine, as detail says, unless err says what is wrong and how to mend it.
func found(check, detail string, err error) finding {
	if err == nil {
		return finding{Check: check, OK: true, Detail: detail}
	}
	what, fix := err.Error(), ""
	if i := strings.LastIndex(what, ": "); i > 0 {
		what, fix = what[:i], what[i+2:]
	}
	return finding{Check: check, Detail: what, Fix: fix}
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
