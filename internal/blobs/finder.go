// Package blobs finds the blobs of public contracts: their created events in serialized form, with
// which parties that do not see a contract can use it. Public history does not have them. A node's
// stream has those of the contracts that its parties see, and a scan service those that its
// operations return. The blob of a contract never changes, so that what was found is kept.
package blobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"golang.org/x/sync/singleflight"
)

// Config says where blobs come from. Zero values mean the defaults.
type Config struct {
	// ScanURL is the scan service that is asked for what is not known, "" for none.
	ScanURL string
	// Client asks it; default one of its own.
	Client *http.Client
	// Stream returns the blobs, by contract id, that the stream of a node has, leaving out the
	// others; nil without a node.
	Stream func(ctx context.Context, ids []string) (map[string]string, error)
	// Log is required.
	Log *slog.Logger
	// Now defaults to time.Now.
	Now func() time.Time
}

const (
	maxKnown = 10_000 // contracts and questions that are remembered
	// missedFor is for how long what was not found is not looked for again.
	missedFor = 2 * time.Second
)

// Finder finds blobs. It is safe for concurrent use, and knows a bounded number.
type Finder struct {
	cfg   Config
	scan  *scanService              // nil without one
	known *memo.LRU[string, string] // by contract id
	// missed are the contracts that the stream did not have, asked the paths of the scan service
	// that were asked, and running those that are asked at present.
	missed, asked *memo.Recent[string, struct{}]
	running       singleflight.Group
}

// New returns a finder.
func New(cfg Config) (*Finder, error) {
	if cfg.Log == nil {
		return nil, errors.New("blobs: Config.Log is required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	f := &Finder{
		cfg: cfg, known: memo.NewLRU(maxKnown, func(string, string) int64 { return 1 }),
		missed: memo.NewRecent[string, struct{}](maxKnown, missedFor, cfg.Now),
		asked:  memo.NewRecent[string, struct{}](maxKnown, missedFor, cfg.Now),
	}
	if cfg.ScanURL == "" {
		return f, nil
	}
	u, err := url.Parse(cfg.ScanURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("scan service %q is not an http or https URL", remote.Redact(u))
	}
	if cfg.Client == nil {
		f.cfg.Client = &http.Client{}
	}
	f.scan = &scanService{base: strings.TrimRight(cfg.ScanURL, "/"), name: remote.Redact(u), client: f.cfg.Client}
	return f, nil
}

// Known returns the blobs of contracts, by id, as far as they are remembered or the stream of a node
// has them.
func (f *Finder) Known(ctx context.Context, ids ...string) (map[string]string, error) {
	found := make(map[string]string, len(ids))
	var missing []string
	for _, id := range ids {
		if blob, ok := f.known.Get(id); ok {
			found[id] = blob
		} else if _, lately := f.missed.Get(id); !lately {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 || f.cfg.Stream == nil {
		return found, nil
	}
	at := f.cfg.Now()
	streamed, err := f.cfg.Stream(ctx, missing)
	if err != nil {
		return found, fmt.Errorf("looking for the blobs of %d contracts: %w", len(missing), err)
	}
	for _, id := range missing {
		if blob, ok := streamed[id]; ok {
			found[id] = blob
			f.known.Put(id, blob)
		} else {
			f.missed.Put(id, struct{}{}, at)
		}
	}
	return found, nil
}

// Find is Known for contracts of a template, and asks the scan service where that is not enough. key
// is the party by which contracts of some templates are asked for: the receiver of a preapproval,
// the provider of an app. A scan service that does not answer is logged: it is as one that has none.
func (f *Finder) Find(ctx context.Context, template, key string, ids ...string) (map[string]string, error) {
	found, err := f.Known(ctx, ids...)
	if err != nil || len(found) == len(ids) || f.scan == nil {
		return found, err
	}
	path, body, ok := operationOf(template, key)
	if !ok {
		return found, nil
	}
	// Others may wait for the same answer, so no single caller can cancel it.
	f.running.Do(path, func() (any, error) { f.ask(context.WithoutCancel(ctx), path, body); return nil, nil })
	for _, id := range ids {
		if blob, ok := f.known.Get(id); ok {
			found[id] = blob
		}
	}
	return found, nil
}

// ask asks the scan service at a path, unless that was done lately, and notes the blobs in its answer.
func (f *Finder) ask(ctx context.Context, path string, body []byte) {
	if _, lately := f.asked.Get(path); lately {
		return
	}
	at := f.cfg.Now()
	status, answer, err := f.scan.ask(ctx, path, body)
	switch {
	case err != nil:
	case status == http.StatusOK:
		err = f.learn(path, answer)
	case status != http.StatusNotFound: // which says that it has none
		err = f.scan.failed(path, fmt.Errorf("status %d", status))
	}
	if err != nil {
		f.cfg.Log.WarnContext(ctx, "cannot get the blobs of public contracts: commands cannot disclose them", "err", err)
	}
	f.asked.Put(path, struct{}{}, at)
}

// Registry has the scan service answer a request to the registry of the token standard, and notes
// the blobs in its answer. path begins with /registry/. ok is false without a scan service.
func (f *Finder) Registry(ctx context.Context, path string, body []byte) (status int, answer []byte, ok bool, err error) {
	if f.scan == nil {
		return 0, nil, false, nil
	}
	if status, answer, err = f.scan.ask(ctx, path, body); err != nil {
		return 0, nil, true, err
	}
	if status == http.StatusOK {
		err = f.learn(path, answer)
	}
	return status, answer, true, err
}
