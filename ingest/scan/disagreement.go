package scan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// AgreeOn is what upstreams have to give alike.
type AgreeOn string

const (
	// AgreeOnUpdates compares updates and import updates. Verdicts and their side data,
	// which upstreams record from different times on and which carry the times of their
	// own mediators, are taken from the upstream that answered first.
	AgreeOnUpdates AgreeOn = "updates"
	// AgreeOnEvents compares verdicts, traffic and app activity as well.
	AgreeOnEvents AgreeOn = "events"
)

// Disagreements keeps what upstreams did not agree on, for people to look at.
type Disagreements interface {
	// Disagreed is called once for each range and the different answers to it, from
	// several goroutines at a time. Its error is logged.
	Disagreed(ctx context.Context, d Disagreement) error
}

// Disagreement is a range of history of which upstreams gave different content. What
// only a minority gave is never stored.
type Disagreement struct {
	At     time.Time
	Stream string
	On     AgreeOn
	// After is exclusive, Through inclusive.
	After, Through schemas.Position
	// Resolved means that enough others agreed, so that the range was stored as they
	// gave it.
	Resolved bool
	Answers  []DisagreementAnswer
}

// DisagreementAnswer is what one upstream gave of the range.
type DisagreementAnswer struct {
	// Upstream is its URL without credentials.
	Upstream string
	// Items counts what was compared; Digest is the SHA-256 over their canonical JSON, a
	// line each, as 64 hex digits.
	Items  int
	Digest string
	// Agreed means that it is among those whose answer was taken.
	Agreed bool
}

// String describes the disagreement on one line.
func (d Disagreement) String() string {
	parts := make([]string, len(d.Answers))
	for i, a := range d.Answers {
		parts[i] = fmt.Sprintf("%s returns %d items with digest %.16s", a.Upstream, a.Items, a.Digest)
	}
	return fmt.Sprintf("after %s through %s: %s", d.After, d.Through, strings.Join(parts, ", "))
}

// key identifies a disagreement that is found repeatedly.
func (d Disagreement) key() string {
	parts := []string{d.After.String(), d.Through.String(), d.Through.UpdateID, fmt.Sprint(d.Resolved)}
	for _, a := range d.Answers {
		parts = append(parts, a.Upstream, a.Digest)
	}
	return strings.Join(parts, "\n")
}

// digest counts and hashes the items up to and including through, or the parts of
// them that are compared. A dishonest upstream chooses what to send, so the hash is
// cryptographic.
func digest(items []schemas.Item, through schemas.Position, on AgreeOn) (n int, sum string) {
	h := sha256.New()
	var buf []byte
	for i := range items {
		it := items[i]
		if through.Before(it.Position()) {
			break
		}
		if on == AgreeOnUpdates {
			it = schemas.Item{Update: it.Update}
		}
		if it.Update == nil && it.Verdict == nil {
			continue
		}
		n++
		buf = append(schemas.AppendItem(buf[:0], &it), '\n')
		_, _ = h.Write(buf) // a hash takes everything
	}
	return n, hex.EncodeToString(h.Sum(nil))
}
