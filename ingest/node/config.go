package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Sink takes history in. The Ingester calls it from one goroutine at a time.
type Sink interface {
	// Resume says where the stream stands: schemas.Start for a stream without history.
	Resume(ctx context.Context, stream string) (schemas.Resume, error)
	// Write stores the batch, or finds that it is stored already. The batch follows
	// the one before without a gap; it may be without items, when only the position
	// moves. An error for which schemas.NeedsPerson is true stops the ingest; after any
	// other the same batch is written again.
	Write(ctx context.Context, b *schemas.Batch) error
}

// Stopper is a Sink that remembers why a stream must not go on, over restarts too: Resume
// refuses it from then on.
type Stopper interface {
	Stop(ctx context.Context, stream, reason string) error
}

// Source is the way in which the stream is read from the node.
type Source string

const (
	// Auto takes WebSocket, and the list calls where a node or what stands before it
	// does not let a websocket through.
	Auto Source = ""
	// WebSocket reads /v2/updates as a stream.
	WebSocket Source = "websocket"
	// Lists posts to /v2/updates, a window of offsets at a time.
	Lists Source = "lists"
	// Flats posts to /v2/updates/flats, which is what older nodes call Lists.
	Flats Source = "flats"
)

// Config says what to ingest and how. Zero values stand for the defaults.
type Config struct {
	// BaseURL is the node's ledger JSON API, with the path prefix that it may have.
	// Required.
	BaseURL string
	// HTTPClient defaults to a client with its own connection pool. It must not have a
	// Timeout, which would end the websocket.
	HTTPClient *http.Client
	// Sink takes the batches. Required.
	Sink Sink
	// Log is required.
	Log *slog.Logger

	// ParticipantID names the stream. Default: what the node says of itself. A node that
	// says otherwise is refused.
	ParticipantID string
	// MigrationID is what the updates are labelled with: nodes do not tell it.
	MigrationID int64
	// Source defaults to Auto.
	Source Source
	// Parties limits the stream to what they see. Default: all parties of the node,
	// which needs the right CanReadAsAnyParty.
	Parties []string
	// WithoutBlobs leaves out the createdEventBlob of contracts, which others need to
	// use a contract that they do not see.
	WithoutBlobs bool

	// Token returns the access token, nil for a node without authorization. It is asked
	// when the last token is about to expire or was refused.
	Token func(context.Context) (string, error)
	// TokenFile holds the access token, instead of Token; it is read again when it
	// changes and when the token was refused.
	TokenFile string

	// Workers is the number of goroutines that decode. Default: two, or one on a single core.
	Workers int
	// BatchItems and BatchBytes bound a batch; a single item that is larger than
	// BatchBytes makes a batch of its own. Defaults 8,192 and 48 MiB.
	BatchItems int
	BatchBytes int64
	// InFlightBytes bounds what was read and is in no batch yet. Default 64 MiB. A frame
	// larger than that is let through alone.
	InFlightBytes int64
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
	// RequestTimeout ends a call, or a frame, that makes no progress for so long, or too
	// little: see remote.Pace. Default 30s.
	RequestTimeout time.Duration
	// Backoff is the wait before the attempt that follows n failures in a row. Default
	// remote.Backoff.
	Backoff func(n int) time.Duration
	// Rest is the most that the node's wish for a rest is followed for. Default
	// remote.LongestRest.
	Rest time.Duration
	// GiveUpAfter ends the retries of one failure; 0 means never.
	GiveUpAfter time.Duration
	// Poll is the wait between list calls once caught up. Default 200ms.
	Poll time.Duration
	// TryWebSocketEvery is how often a stream that follows by list calls, because the
	// websocket failed, tries the websocket again. Default 5m.
	TryWebSocketEvery time.Duration

	// Ahead is how far ahead of Now record times may be: what is later is waited for. 0
	// means that there is no such limit, for networks whose time is not that of the clock.
	Ahead time.Duration

	// Version is sent as User-Agent ledgerlake/<version>.
	Version string
	// Now defaults to time.Now.
	Now func() time.Time
}

func (c *Config) setDefaults() error {
	switch {
	case c.Sink == nil:
		return errors.New("ingest needs a sink")
	case c.Log == nil:
		return errors.New("ingest needs a logger")
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
		return fmt.Errorf("source of the node's stream %q is none of %q, %q, %q", c.Source, WebSocket, Lists, Flats)
	}
	for name, n := range map[string]int64{
		"workers": int64(c.Workers), "batch items": int64(c.BatchItems), "batch bytes": c.BatchBytes,
		"bytes in flight": c.InFlightBytes, "largest frame": c.MaxFrameBytes, "spool bytes": c.SpoolBytes,
		"checkpoint interval": int64(c.CheckpointEvery), "idle timeout": int64(c.IdleTimeout),
		"request timeout": int64(c.RequestTimeout), "ping interval": int64(c.PingInterval), "give up": int64(c.GiveUpAfter), "poll": int64(c.Poll),
		"websocket interval": int64(c.TryWebSocketEvery), "time ahead": int64(c.Ahead),
	} {
		if n < 0 {
			return fmt.Errorf("%s of the node's stream must not be negative", name)
		}
	}
	c.Workers = cmp.Or(c.Workers, min(2, runtime.GOMAXPROCS(0)))
	c.BatchItems = cmp.Or(c.BatchItems, 8192)
	c.BatchBytes = cmp.Or(c.BatchBytes, 48<<20)
	c.InFlightBytes = cmp.Or(c.InFlightBytes, 64<<20)
	c.MaxFrameBytes = cmp.Or(c.MaxFrameBytes, 256<<20)
	c.SpoolBytes = cmp.Or(c.SpoolBytes, 64<<20)
	c.CheckpointEvery = cmp.Or(c.CheckpointEvery, 10*time.Second)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 2*time.Minute)
	c.RequestTimeout = cmp.Or(c.RequestTimeout, 30*time.Second)
	c.PingInterval = cmp.Or(c.PingInterval, 10*time.Second)
	c.Poll = cmp.Or(c.Poll, 200*time.Millisecond)
	c.TryWebSocketEvery = cmp.Or(c.TryWebSocketEvery, 5*time.Minute)
	c.Version = cmp.Or(c.Version, "dev")
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Backoff == nil {
		c.Backoff = remote.Backoff
	}
	return nil
}
