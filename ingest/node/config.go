package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
)

// Stopper is a stream.Sink that stores why a stream must not continue, over restarts too: Resume
// refuses it from then on.
type Stopper interface {
	Stop(ctx context.Context, stream, reason string) error
}

// Source is the way in which the stream is read from the node.
type Source string

const (
	// Auto takes WebSocket, and the list calls where a node or a proxy in front of it
	// does not let a websocket through.
	Auto Source = ""
	// WebSocket reads /v2/updates as a stream.
	WebSocket Source = "websocket"
	// Lists posts to /v2/updates, a window of offsets at a time.
	Lists Source = "lists"
	// Flats posts to /v2/updates/flats, which is what older nodes call Lists.
	Flats Source = "flats"
)

// Config names the node and how to read from it. Zero values mean the defaults.
type Config struct {
	// BaseURL is the node's ledger JSON API, with the path prefix that it may have.
	// Required.
	BaseURL string
	// Settings has what every ingester needs. Its HTTPClient must not have a Timeout, which
	// would end the websocket. A frame larger than InFlightBytes is let through alone.
	stream.Settings

	// ParticipantID names the stream. Default: the one that the node reports. A node that
	// reports another one is refused.
	ParticipantID string
	// MigrationID labels the updates: nodes do not report it.
	MigrationID int64
	// Source defaults to Auto.
	Source Source
	// Parties limits the stream to what they see. Default: all parties of the node,
	// which needs the right CanReadAsAnyParty.
	Parties []string

	// Interfaces returns the interfaces, "#package-name:Module:Entity", whose views are asked for beside
	// the contracts, as far as the node knows them. It is called again and again. nil means none.
	Interfaces func() []string
	// Computed reports whether readers compute the view of an interface, Module:Entity, of a contract of
	// a template: it is not stored then. nil means that they compute none.
	Computed func(packageName, templateID, entity string) bool
	// LookEvery is how often a stream that is followed looks whether the node has other packages, and
	// may know other interfaces. Default 1m.
	LookEvery time.Duration
	// interfaces are those that the node knows.
	interfaces *interfaces

	// Token returns the access token, nil for a node without authorization. It is called
	// when the last token is about to expire or was refused.
	Token func(context.Context) (string, error)
	// TokenFile holds the access token, instead of Token; it is read again when it
	// changes and when the token was refused.
	TokenFile string

	// Workers is the number of goroutines that decode. Default: two, or one on a single core.
	Workers int
	// MaxFrameBytes caps one frame or answer. Default 256 MiB.
	MaxFrameBytes int64
	// SpoolBytes bounds the memory in which the active contracts of a snapshot are
	// sorted before they go to a temporary file. Default 64 MiB.
	SpoolBytes int64
	// TempDir holds that file. Default os.TempDir().
	TempDir string

	// CheckpointEvery is the least time between two batches without items, which keep
	// the position of a quiet stream ahead of the node's pruning. Default 10s.
	CheckpointEvery time.Duration
	// IdleTimeout ends a websocket without frames: a node sends a checkpoint every
	// minute or so even when nothing happens. Default 2m.
	IdleTimeout time.Duration
	// PingInterval is how often a websocket is pinged, and looked into when it is silent.
	// Default 10s.
	PingInterval time.Duration
	// Poll is the wait between list calls once caught up. Default 200ms.
	Poll time.Duration
	// TryWebSocketEvery is how often a stream that follows by list calls, because the
	// websocket failed, tries the websocket again. Default 5m.
	TryWebSocketEvery time.Duration
}

func (c *Config) setDefaults() error {
	if err := c.Settings.SetDefaults(); err != nil {
		return err
	}
	switch {
	case c.Token != nil && c.TokenFile != "":
		return errors.New("the node's token has two sources, a function and a file")
	case c.HTTPClient != nil && c.HTTPClient.Timeout > 0:
		return errors.New("the HTTP client of a node must not have a timeout: it would end the websocket")
	case slices.Contains(c.Parties, ""):
		return errors.New("a party of the node's stream is empty")
	case c.MigrationID < 0:
		return fmt.Errorf("migration id %d of the node's stream is negative", c.MigrationID)
	}
	switch c.Source {
	case Auto, WebSocket, Lists, Flats:
	default:
		return fmt.Errorf("source of the node's stream %q is not one of %q, %q, %q", c.Source, WebSocket, Lists, Flats)
	}
	err := stream.NotNegative(map[string]int64{
		"workers": int64(c.Workers), "largest frame": c.MaxFrameBytes, "spool bytes": c.SpoolBytes,
		"checkpoint interval": int64(c.CheckpointEvery), "idle timeout": int64(c.IdleTimeout),
		"ping interval": int64(c.PingInterval), "poll": int64(c.Poll), "websocket interval": int64(c.TryWebSocketEvery),
		"package interval": int64(c.LookEvery),
	})
	if err != nil {
		return err
	}
	c.Workers = cmp.Or(c.Workers, min(2, runtime.GOMAXPROCS(0)))
	c.MaxFrameBytes = cmp.Or(c.MaxFrameBytes, 256<<20)
	c.SpoolBytes = cmp.Or(c.SpoolBytes, 64<<20)
	c.CheckpointEvery = cmp.Or(c.CheckpointEvery, 10*time.Second)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 2*time.Minute)
	c.PingInterval = cmp.Or(c.PingInterval, 10*time.Second)
	c.Poll = cmp.Or(c.Poll, 200*time.Millisecond)
	c.LookEvery = cmp.Or(c.LookEvery, time.Minute)
	c.TryWebSocketEvery = cmp.Or(c.TryWebSocketEvery, 5*time.Minute)
	return nil
}
