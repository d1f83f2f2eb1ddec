package node

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
)

const (
	completionsOperation = "/v2/commands/completions"
	updatesOperation     = "/v2/updates"
	ledgerEndOperation   = "/v2/state/ledger-end"
)

// completion tells how a command ended.
type completion struct {
	CommandID    string   `json:"commandId"`
	SubmissionID string   `json:"submissionId"`
	UpdateID     string   `json:"updateId"`
	ActAs        []string `json:"actAs"`
	Offset       int64    `json:"offset"`
	Status       *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"status"`
}

// refused reports whether the command was not executed.
func (d *completion) refused() bool { return d.Status != nil && d.Status.Code != 0 }

// completionElement is an element of a list of completions.
type completionElement struct {
	Response struct {
		Completion *struct {
			Value completion `json:"value"`
		} `json:"Completion"`
		Checkpoint *struct {
			Value struct {
				Offset int64 `json:"offset"`
			} `json:"value"`
		} `json:"OffsetCheckpoint"`
	} `json:"completionResponse"`
}

// find looks for the completion of a submission for ResolveTimeout. A completion of another
// submission of the same command counts if it was executed. It returns nil if there is
// none, and why it could not look, if so.
func (c *Client) find(ctx context.Context, f *inFlight) (*completion, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.ResolveTimeout)
	defer cancel()
	var last error
	for after := f.begin; ; {
		page, end, err := c.completions(ctx, f.UserID, f.ActAs, after)
		last = err
		for i := range page {
			if f.concerns(&page[i]) {
				return &page[i], nil
			}
		}
		if err == nil && end > after && len(page) > 0 {
			after = end
			continue
		}
		after = max(after, end)
		if remote.Sleep(ctx, c.cfg.Poll) != nil {
			if last != nil && !errors.Is(last, context.DeadlineExceeded) {
				return nil, fmt.Errorf("looking for its completion: %w", last)
			}
			return nil, nil
		}
	}
}

// concerns reports whether a completion is that of the submission, or that another one of the
// same command was executed.
func (f *inFlight) concerns(d *completion) bool {
	if d.SubmissionID == f.SubmissionID {
		return true
	}
	return f.CommandID != "" && d.CommandID == f.CommandID && !d.refused() && sameParties(d.ActAs, f.ActAs)
}

func sameParties(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// completions returns those of a user after an offset, and the offset up to which these are
// all. Two pages may overlap, none leaves a gap.
func (c *Client) completions(ctx context.Context, user string, parties []string, after int64) (page []completion, through int64, err error) {
	var elements []completionElement
	k := &call{
		method: "POST", operation: completionsOperation,
		query: url.Values{"limit": {strconv.Itoa(c.cfg.PageSize)}, "stream_idle_timeout_ms": {strconv.FormatInt(c.cfg.Poll.Milliseconds(), 10)}},
		body:  map[string]any{"userId": user, "parties": parties, "beginExclusive": after},
	}
	if err := c.do(ctx, k, &elements); err != nil {
		return nil, after, err
	}
	through = after
	for _, e := range elements {
		switch {
		case e.Response.Completion != nil:
			page = append(page, e.Response.Completion.Value)
			through = max(through, e.Response.Completion.Value.Offset)
		case e.Response.Checkpoint != nil:
			through = max(through, e.Response.Checkpoint.Value.Offset)
		}
	}
	return page, through, nil
}

// completed turns a completion into what the answer would have been.
func (c *Client) completed(ctx context.Context, f *inFlight, d *completion) (*Transaction, error) {
	if d.refused() {
		return nil, refusalIn(d)
	}
	c.ends.reached(d.Offset, c.cfg.Now())
	var err error
	for attempt := 1; attempt <= c.cfg.Attempts; attempt++ {
		var t *Transaction
		if t, err = c.transactionAt(ctx, d.Offset, f.parties()); err == nil {
			t.CommandID = f.CommandID
			return t, nil
		}
		if remote.Sleep(ctx, remote.Backoff(attempt)) != nil {
			break
		}
	}
	return nil, fmt.Errorf("%w: command %s was executed at offset %d, but its result could not be read: %w", ErrUnknown, f.CommandID, d.Offset, err)
}

// refusalIn is what a completion says of a command that was not executed. Its message is
// "CODE(category,trace): text".
func refusalIn(d *completion) *Refusal {
	r := &Refusal{Message: remote.OneLine(d.Status.Message)}
	code, rest, ok := strings.Cut(d.Status.Message, "(")
	if !ok || strings.ToUpper(code) != code {
		return r
	}
	category, text, ok := strings.Cut(rest, "): ")
	if !ok {
		return r
	}
	number, _, _ := strings.Cut(category, ",")
	r.Code, r.Message = code, remote.OneLine(text)
	r.Category, _ = strconv.Atoi(number) // 0 if it is none
	return r
}

// transactionAt reads the transaction at an offset as the parties see it.
func (c *Client) transactionAt(ctx context.Context, offset int64, parties []string) (*Transaction, error) {
	var elements []struct {
		Update struct {
			Transaction *struct {
				Value Transaction `json:"value"`
			} `json:"Transaction"`
		} `json:"update"`
	}
	request := map[string]any{
		"beginExclusive": offset - 1, "endInclusive": offset, "updateFormat": updateFormat{treeFor(parties)},
	}
	if err := c.post(ctx, updatesOperation, request, &elements); err != nil {
		return nil, err
	}
	for _, e := range elements {
		if t := e.Update.Transaction; t != nil && t.Value.Offset == offset {
			return &t.Value, nil
		}
	}
	return nil, fmt.Errorf("the node shows no transaction at offset %d", offset)
}

// LedgerEnd returns the offset of the node's last update.
func (c *Client) LedgerEnd(ctx context.Context) (int64, error) {
	var answer struct {
		Offset int64 `json:"offset"`
	}
	if err := c.get(ctx, ledgerEndOperation, nil, &answer); err != nil {
		return 0, err
	}
	c.ends.reached(answer.Offset, c.cfg.Now())
	return answer.Offset, nil
}

// endsGrowOld is how long an offset is good as the begin of a search: any that the node has
// reached is right, but the older it is the more there is to look through.
const endsGrowOld = 10 * time.Second

// ledgerEnds remembers the last offset that the node was seen to have reached.
type ledgerEnds struct {
	mu   sync.Mutex
	end  int64
	seen time.Time // zero = never
}

func (l *ledgerEnds) reached(offset int64, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if offset >= l.end {
		l.end, l.seen = offset, now
	}
}

// recent returns an offset that the node has reached.
func (l *ledgerEnds) recent(ctx context.Context, c *Client) (int64, error) {
	l.mu.Lock()
	end, seen := l.end, l.seen
	l.mu.Unlock()
	if !seen.IsZero() && c.cfg.Now().Sub(seen) < endsGrowOld {
		return end, nil
	}
	return c.LedgerEnd(ctx)
}
