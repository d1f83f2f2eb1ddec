package devnet

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// maxDeduplication is the longest period that a command may ask for, and the one of
// commands that ask for none.
const maxDeduplication = 7 * 24 * time.Hour

// deduplicationPeriod says how long ago a change may have been executed for a command to
// be a repetition. The zero value is the longest period.
type deduplicationPeriod struct {
	kind     periodKind
	duration time.Duration
	offset   int64 // exclusive
}

// wireDuration is a duration as requests have it.
type wireDuration struct {
	Seconds int64 `json:"seconds"`
	Nanos   int64 `json:"nanos"`
}

func (d wireDuration) duration() (time.Duration, error) {
	if d.Seconds < 0 || d.Nanos < 0 || d.Nanos >= 1e9 || d.Seconds > math.MaxInt64/int64(time.Second)-1 {
		return 0, fmt.Errorf("%d s and %d ns are no duration", d.Seconds, d.Nanos)
	}
	return time.Duration(d.Seconds)*time.Second + time.Duration(d.Nanos), nil
}

// wirePeriod is a period as requests have it: one member.
type wirePeriod map[string]struct {
	Value json.RawMessage `json:"value"`
}

// decode reads a period; ledgerEnd bounds offsets.
func (w wirePeriod) decode(ledgerEnd int64) (p deduplicationPeriod, err error) {
	if len(w) > 1 {
		return p, badRequest("deduplicationPeriod has %d members, want one", len(w))
	}
	for kind, content := range w {
		switch kind {
		case "Empty":
		case "DeduplicationDuration":
			var d wireDuration
			if err := json.Unmarshal(content.Value, &d); err != nil {
				return p, badRequest("invalid body: deduplicationPeriod: %v", err)
			}
			p.kind = periodByDuration
			if p.duration, err = d.duration(); err != nil {
				return p, invalidField("deduplication_period", "%v", err)
			}
		case "DeduplicationOffset":
			if err := json.Unmarshal(content.Value, &p.offset); err != nil {
				return p, badRequest("invalid body: deduplicationPeriod: %v", err)
			}
			p.kind = periodByOffset
		default:
			return p, badRequest("deduplicationPeriod %q is unknown", kind)
		}
	}
	return p, p.check(ledgerEnd)
}

// check refuses what the node cannot answer for.
func (p deduplicationPeriod) check(ledgerEnd int64) error {
	switch {
	case p.kind == periodByDuration && p.duration > maxDeduplication:
		e := nodeRefusal("INVALID_DEDUPLICATION_PERIOD", "The given deduplication duration of %s exceeds the maximum deduplication duration of %s", p.duration, maxDeduplication)
		e.Context["longest_duration"] = maxDeduplication.String()
		return e
	case p.kind == periodByOffset && p.offset < 0:
		return invalidField("deduplication_period", "offset %d is negative", p.offset)
	case p.kind == periodByOffset && p.offset > ledgerEnd:
		return nodeRefusal("INVALID_DEDUPLICATION_PERIOD", "The deduplication offset %d is after the ledger end %d", p.offset, ledgerEnd)
	}
	return nil
}

// covers reports whether an execution lies within the period; now is the record time (µs)
// that the ledger has reached.
func (p deduplicationPeriod) covers(e *executedChange, now int64) bool {
	switch p.kind {
	case periodByOffset:
		return e.offset > p.offset
	case periodByDuration:
		return e.recordTime > now-p.duration.Microseconds()
	}
	return e.recordTime > now-maxDeduplication.Microseconds()
}

// wire returns the period as completions have it.
func (p deduplicationPeriod) wire() json.RawMessage {
	if p.kind == periodByOffset {
		return json.RawMessage(`{"DeduplicationOffset":{"value":` + strconv.FormatInt(p.offset, 10) + `}}`)
	}
	d := p.duration
	if p.kind == longestPeriod {
		d = maxDeduplication
	}
	return json.RawMessage(fmt.Sprintf(`{"DeduplicationDuration":{"value":{"nanos":%d,"seconds":%d}}}`, d%time.Second, d/time.Second))
}
