package nodeapi

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

// MaxDeduplication is the longest period that a command may ask for, and the one of
// commands that ask for none.
const MaxDeduplication = 7 * 24 * time.Hour

// DeduplicationPeriod says how long ago a change may have been executed for a command to
// be a repetition. The zero value is the longest period.
type DeduplicationPeriod struct {
	Kind     ledger.PeriodKind
	Duration time.Duration
	Offset   int64 // exclusive
}

// wireDuration is a duration as requests have it.
type wireDuration struct {
	Seconds int64 `json:"seconds"`
	Nanos   int64 `json:"nanos"`
}

func (d wireDuration) duration() (time.Duration, error) {
	if d.Seconds < 0 || d.Nanos < 0 || d.Nanos >= 1e9 || d.Seconds > math.MaxInt64/int64(time.Second)-1 {
		return 0, fmt.Errorf("%d s and %d ns are not a duration", d.Seconds, d.Nanos)
	}
	return time.Duration(d.Seconds)*time.Second + time.Duration(d.Nanos), nil
}

// wirePeriod is a period as requests have it: one member.
type wirePeriod map[string]struct {
	Value json.RawMessage `json:"value"`
}

// decode reads a period; ledgerEnd bounds offsets.
func (w wirePeriod) decode(ledgerEnd int64) (p DeduplicationPeriod, err error) {
	if len(w) > 1 {
		return p, reply.BadRequest("deduplicationPeriod has %d members, want one", len(w))
	}
	for kind, content := range w {
		switch kind {
		case "Empty":
		case "DeduplicationDuration":
			var d wireDuration
			if err := json.Unmarshal(content.Value, &d); err != nil {
				return p, reply.BadRequest("invalid body: deduplicationPeriod: %v", err)
			}
			p.Kind = ledger.PeriodByDuration
			if p.Duration, err = d.duration(); err != nil {
				return p, invalidField("deduplication_period", "%v", err)
			}
		case "DeduplicationOffset":
			if err := json.Unmarshal(content.Value, &p.Offset); err != nil {
				return p, reply.BadRequest("invalid body: deduplicationPeriod: %v", err)
			}
			p.Kind = ledger.PeriodByOffset
		default:
			return p, reply.BadRequest("deduplicationPeriod %q is unknown", kind)
		}
	}
	return p, p.check(ledgerEnd)
}

// check refuses what the node cannot answer for.
func (p DeduplicationPeriod) check(ledgerEnd int64) error {
	switch {
	case p.Kind == ledger.PeriodByDuration && p.Duration > MaxDeduplication:
		e := nodeRefusal("INVALID_DEDUPLICATION_PERIOD", "The given deduplication duration of %s exceeds the maximum deduplication duration of %s", p.Duration, MaxDeduplication)
		e.Context["longest_duration"] = MaxDeduplication.String()
		return e
	case p.Kind == ledger.PeriodByOffset && p.Offset < 0:
		return invalidField("deduplication_period", "offset %d is negative", p.Offset)
	case p.Kind == ledger.PeriodByOffset && p.Offset > ledgerEnd:
		return nodeRefusal("INVALID_DEDUPLICATION_PERIOD", "The deduplication offset %d is after the ledger end %d", p.Offset, ledgerEnd)
	}
	return nil
}

// covers reports whether an execution lies within the period; now is the record time (µs)
// that the ledger has reached.
func (p DeduplicationPeriod) covers(e *executedChange, now int64) bool {
	switch p.Kind {
	case ledger.PeriodByOffset:
		return e.offset > p.Offset
	case ledger.PeriodByDuration:
		return e.recordTime > now-p.Duration.Microseconds()
	}
	return e.recordTime > now-MaxDeduplication.Microseconds()
}

// wire returns the period as completions have it.
func (p DeduplicationPeriod) wire() json.RawMessage {
	if p.Kind == ledger.PeriodByOffset {
		return json.RawMessage(`{"DeduplicationOffset":{"value":` + strconv.FormatInt(p.Offset, 10) + `}}`)
	}
	d := p.Duration
	if p.Kind == ledger.LongestPeriod {
		d = MaxDeduplication
	}
	return json.RawMessage(fmt.Sprintf(`{"DeduplicationDuration":{"value":{"nanos":%d,"seconds":%d}}}`, d%time.Second, d/time.Second))
}
