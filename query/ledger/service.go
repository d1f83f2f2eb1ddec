package ledger

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
)

// apiVersion is the version of the node whose interface this is.
const apiVersion = "3.5.14"

type supported struct {
	Supported bool `json:"supported"`
}

// duration is a time as the interface writes it.
type duration struct {
	Seconds int64 `json:"seconds"`
	Nanos   int32 `json:"nanos"`
}

func durationOf(d time.Duration) duration {
	return duration{int64(d / time.Second), int32(d % time.Second)}
}

// versionAnswer says what the interface can do. Limits of 0 mean none.
type versionAnswer struct {
	Version  string `json:"version"`
	Features struct {
		Experimental struct {
			StaticTime               supported `json:"staticTime"`
			CommandInspectionService supported `json:"commandInspectionService"`
		} `json:"experimental"`
		UserManagement struct {
			supported
			MaxRightsPerUser int32 `json:"maxRightsPerUser"`
			MaxUsersPageSize int32 `json:"maxUsersPageSize"`
		} `json:"userManagement"`
		PartyManagement struct {
			MaxPartiesPageSize int32 `json:"maxPartiesPageSize"`
		} `json:"partyManagement"`
		OffsetCheckpoint struct {
			MaxDelay duration `json:"maxOffsetCheckpointEmissionDelay"`
		} `json:"offsetCheckpoint"`
		PackageFeature struct {
			MaxVettedPackagesPageSize int32 `json:"maxVettedPackagesPageSize"`
		} `json:"packageFeature"`
	} `json:"features"`
}

func (a *API) version(_ context.Context, r *query.Request) error {
	answer := versionAnswer{Version: apiVersion}
	if a.cfg.Version != "" {
		answer.Version += "+ledgerlake." + strings.TrimPrefix(a.cfg.Version, "v")
	}
	answer.Features.UserManagement.Supported = a.passing.node != nil
	answer.Features.OffsetCheckpoint.MaxDelay = durationOf(a.cfg.CheckpointDelay)
	return r.JSON(answer)
}

func (a *API) livez(_ context.Context, r *query.Request) error { return r.Empty(200) }

// readyz answers 200 when requests can be answered, else 503, with the reason in the log.
func (a *API) readyz(ctx context.Context, r *query.Request) error {
	if err := a.ready(ctx); err != nil {
		a.cfg.Log.WarnContext(ctx, "not ready", "request_id", r.ID(), "err", err)
		return r.Send(503, query.TextType, int64(len(notReady)), textOf(notReady))
	}
	return r.Send(200, query.TextType, int64(len(isReady)), textOf(isReady))
}

func (a *API) ready(ctx context.Context) error {
	n, err := a.node(ctx)
	if err != nil {
		return err
	}
	if a.cfg.Auth != nil {
		if err := a.cfg.Auth.Ready(ctx); err != nil {
			return err
		}
	}
	if _, err = n.ends.current(ctx); err != nil {
		return err
	}
	return a.cfg.Health(ctx)
}

const (
	isReady  = "readyz check passed\n"
	notReady = "readyz check failed\n"
)

func textOf(text string) io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }
