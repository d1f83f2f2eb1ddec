package scan

import (
	"cmp"
	"fmt"
	"net/url"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Source is the way in which history is read from the upstream.
type Source string

const (
	// Auto takes Events. A stream without history falls back to Updates, then to
	// UpdatesBefore, if the upstream does not have the operation; one with history does
	// not, as verdicts would be missing from there on.
	Auto Source = ""
	// Events reads /v0/events: updates, verdicts, traffic and app activity.
	Events Source = "events"
	// Updates reads /v2/updates: updates only.
	Updates Source = "updates"
	// UpdatesBefore reads the backfilling operation of that name: updates only, also
	// while the upstream is still backfilling.
	UpdatesBefore Source = "updates-before"
)

// Config names the upstreams and how to read from them. Zero values mean the defaults.
type Config struct {
	// BaseURL is the upstream scan, with or without a trailing /api/scan. Required.
	BaseURL string
	// Peers are further upstreams of the same network. Requests go to healthy
	// ones, and what one of them fails to return is requested from the others.
	Peers []string
	// Agree is how many upstreams must return the same range of history before it is
	// stored. Default 1: each one is trusted.
	Agree int
	// AgreeOn is what must be the same. Default AgreeOnUpdates.
	AgreeOn AgreeOn
	// Disagreements, when set, records the ranges on which they did not agree.
	Disagreements Disagreements
	// Settings has what every ingester needs. Items of one record time stay in one batch;
	// the page that is due next is read beyond InFlightBytes as well.
	stream.Settings
	// Gaps, when set, has Run look for verdicts, traffic and app activity of items that
	// were stored without, and hand them to the sink as the stream SideStream.
	Gaps Gaps

	// Source defaults to Auto.
	Source Source
	// Workers is the number of requests in flight. Default 4 for each upstream, at most 16.
	Workers int
	// MaxPageBytes caps one answer. Default 256 MiB.
	MaxPageBytes int64
	// Values is explained at ClientConfig.
	Values *values.Catalog
	// RequestsPerSecond is for each upstream and explained at ClientConfig.
	RequestsPerSecond float64
	// Poll is the longest wait between polls for new history once caught up, when none
	// came for a while. Default 1s.
	Poll time.Duration
	// BusyPoll is the wait after new history came, which doubles up to Poll while none
	// does. Default 100ms when all upstreams are on this machine, else 250ms; at most
	// Poll. UpdatesBefore, where each poll takes several requests, always waits for Poll.
	BusyPoll time.Duration
	// Refresh is how long the upstream's overview of migrations is considered current.
	// Default 30s.
	Refresh time.Duration

	// sidePause is the wait until the next look for gaps when there is none, or when one could
	// not be read. Tests shorten it.
	sidePause time.Duration
}

func (c *Config) setDefaults() error {
	if err := c.Settings.SetDefaults(); err != nil {
		return err
	}
	switch c.Source {
	case Auto, Events, Updates, UpdatesBefore:
	default:
		return fmt.Errorf("source of history %q is not one of %q, %q, %q", c.Source, Events, Updates, UpdatesBefore)
	}
	c.Workers = cmp.Or(c.Workers, min(4*(1+len(c.Peers)), 16))
	c.Agree, c.AgreeOn = cmp.Or(c.Agree, 1), cmp.Or(c.AgreeOn, AgreeOnUpdates)
	c.MaxPageBytes = cmp.Or(c.MaxPageBytes, 256<<20)
	c.Poll = cmp.Or(c.Poll, time.Second)
	c.BusyPoll = min(cmp.Or(c.BusyPoll, c.busyPoll()), c.Poll)
	c.Refresh = cmp.Or(c.Refresh, 30*time.Second)
	c.sidePause = cmp.Or(c.sidePause, sidePause)
	if c.Agree < 1 || c.Agree > len(c.urls()) {
		return fmt.Errorf("%d upstreams must agree, but there are %d", c.Agree, len(c.urls()))
	}
	if c.AgreeOn != AgreeOnUpdates && c.AgreeOn != AgreeOnEvents {
		return fmt.Errorf("upstreams can agree on %q or %q, not on %q", AgreeOnUpdates, AgreeOnEvents, c.AgreeOn)
	}
	return stream.NotNegative(map[string]int64{"workers": int64(c.Workers), "largest page": c.MaxPageBytes})
}

// urls are all upstreams.
func (c *Config) urls() []string { return append([]string{c.BaseURL}, c.Peers...) }

// busyPoll is the default of BusyPoll.
func (c *Config) busyPoll() time.Duration {
	for _, raw := range c.urls() {
		if u, err := url.Parse(raw); err != nil || !remote.IsLoopback(u.Hostname()) {
			return 250 * time.Millisecond
		}
	}
	return 100 * time.Millisecond
}
