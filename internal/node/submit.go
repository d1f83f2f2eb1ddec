package node

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
)

const submitOperation = "/v2/commands/submit-and-wait-for-transaction"

// Submission is a list of commands that are executed together, or not at all.
type Submission struct {
	// CommandID names what is to be done: of two submissions with one command id and the
	// same ActAs, the node executes one. "" draws an id, for what may be done again.
	CommandID string
	// ActAs and ReadAs are the parties in whose name, and with whose eyes.
	ActAs, ReadAs []string
	Commands      []Command
	Disclosed     []Disclosed
	// WorkflowID and SynchronizerID are optional.
	WorkflowID, SynchronizerID string
	// DeduplicateFor is how far back a command of the same id is the same command: a repetition
	// has the transaction of the first one. Without it, DeduplicateAfter is an offset from which
	// on a repetition is ErrDuplicate; without both it is from the submission on.
	DeduplicateFor   time.Duration
	DeduplicateAfter int64
}

// commands is a submission as the node reads it.
type commands struct {
	Commands       []Command            `json:"commands"`
	CommandID      string               `json:"commandId"`
	UserID         string               `json:"userId"`
	ActAs          []string             `json:"actAs"`
	ReadAs         []string             `json:"readAs,omitempty"`
	WorkflowID     string               `json:"workflowId,omitempty"`
	SubmissionID   string               `json:"submissionId"`
	Deduplication  *deduplicationPeriod `json:"deduplicationPeriod,omitempty"`
	Disclosed      []Disclosed          `json:"disclosedContracts,omitempty"`
	SynchronizerID string               `json:"synchronizerId,omitempty"`
}

// deduplicationPeriod has one member.
type deduplicationPeriod struct {
	Duration *valueOf[duration] `json:"DeduplicationDuration,omitempty"`
	Offset   *valueOf[int64]    `json:"DeduplicationOffset,omitempty"`
}

type valueOf[T any] struct {
	Value T `json:"value"`
}

// duration is one in the node's JSON.
type duration struct {
	Seconds int64 `json:"seconds"`
	Nanos   int32 `json:"nanos"`
}

func durationOf(d time.Duration) duration {
	return duration{Seconds: int64(d / time.Second), Nanos: int32(d % time.Second)}
}

// inFlight is a submission and what is needed to find out what became of it.
type inFlight struct {
	commands
	repeatable bool  // a repetition has the transaction of the first one
	begin      int64 // an offset at or before the end of the ledger when it was first sent
}

// Submit has the commands executed and returns the transaction, as far as the parties of
// the submission see it. The error is
//
//   - ErrNotSent if nothing has left;
//   - a *Refusal if the node has refused: nothing was done;
//   - ErrDuplicate if another submission of the same command id was executed, unless
//     DeduplicateFor is set, or is being executed, within the time of deduplication;
//   - ErrUnknown otherwise.
//
// ctx also bounds the time in which a lost answer is made up for.
func (c *Client) Submit(ctx context.Context, s Submission) (*Transaction, error) {
	f, err := c.newSubmission(ctx, s)
	if err != nil {
		return nil, err
	}
	return c.settle(ctx, f, func() (*Transaction, error) {
		var answer struct {
			Transaction *Transaction `json:"transaction"`
		}
		request := struct {
			Commands *commands         `json:"commands"`
			Format   transactionFormat `json:"transactionFormat"`
		}{&f.commands, treeFor(f.parties())}
		if err := c.post(ctx, submitOperation, request, &answer); err != nil {
			return nil, err
		}
		if t := answer.Transaction; t == nil || t.UpdateID == "" || t.Offset <= 0 {
			return nil, c.withoutUpdate(submitOperation)
		}
		return answer.Transaction, nil
	})
}

// withoutUpdate is the error of an answer that says that a command was executed, and not in
// which update.
func (c *Client) withoutUpdate(operation string) *Error {
	return &Error{Upstream: c.name, Operation: operation, Status: http.StatusOK, Sent: true, Err: errors.New("the answer names no update")}
}

// parties are those of a submission, each once.
func (s *commands) parties() []string {
	all := slices.Concat(s.ActAs, s.ReadAs)
	slices.Sort(all)
	return slices.Compact(all)
}

func (c *Client) newSubmission(ctx context.Context, s Submission) (*inFlight, error) {
	if len(s.ActAs) == 0 || len(s.Commands) == 0 {
		return nil, errors.New("a submission needs a command and a party to act as")
	}
	user, err := c.SubmittingUser(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	begin, err := c.ends.recent(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	f := &inFlight{begin: begin, commands: commands{
		Commands: s.Commands, CommandID: s.CommandID, UserID: user, ActAs: s.ActAs, ReadAs: s.ReadAs, WorkflowID: s.WorkflowID,
		SubmissionID: rand.Text(), Disclosed: s.Disclosed, SynchronizerID: s.SynchronizerID,
	}}
	f.CommandID = cmp.Or(f.CommandID, rand.Text())
	switch {
	case s.DeduplicateFor > 0:
		f.repeatable = true
		f.Deduplication = &deduplicationPeriod{Duration: &valueOf[duration]{durationOf(s.DeduplicateFor)}}
	case s.DeduplicateAfter > 0:
		f.Deduplication = &deduplicationPeriod{Offset: &valueOf[int64]{min(s.DeduplicateAfter, begin)}}
	default:
		f.Deduplication = &deduplicationPeriod{Offset: &valueOf[int64]{begin}}
	}
	return f, nil
}

// settle sends a submission until its outcome is known, or Attempts times.
func (c *Client) settle(ctx context.Context, f *inFlight, send func() (*Transaction, error)) (*Transaction, error) {
	doubt := error(nil) // why an earlier attempt may have been executed
	for attempt := 1; ; attempt++ {
		t, err := send()
		if err == nil {
			c.ends.reached(t.Offset, c.cfg.Now())
			return t, nil
		}
		var e *Error
		if !errors.As(err, &e) || errors.Is(err, ErrUnknown) {
			return nil, err
		}
		if doubt == nil && !e.Sent {
			return nil, err
		}
		if doubt == nil && e.Refused() {
			return nil, e.Refusal()
		}
		if offset, ok := executedAt(e); ok && f.repeatable && ofAnother(e, f) {
			return c.completed(ctx, f, &completion{Offset: offset})
		}
		if isDuplicate(e) && ofAnother(e, f) {
			return nil, fmt.Errorf("%w: %w", ErrDuplicate, err)
		}
		c.cfg.Log.WarnContext(ctx, "looking up the outcome of a command", "command", f.CommandID, "attempt", attempt, "err", err)
		done, lookErr := c.find(ctx, f)
		switch {
		case done != nil && (done.SubmissionID == f.SubmissionID || f.repeatable):
			return c.completed(ctx, f, done)
		case done != nil:
			return nil, fmt.Errorf("%w: update %s: %w", ErrDuplicate, done.UpdateID, err)
		}
		doubt = errors.Join(err, lookErr)
		if attempt >= c.cfg.Attempts || ctx.Err() != nil {
			return nil, fmt.Errorf("%w: command %s after %d attempts: %w", ErrUnknown, f.CommandID, attempt, doubt)
		}
		if err := remote.Sleep(ctx, remote.Backoff(attempt)); err != nil {
			return nil, fmt.Errorf("%w: command %s: %w: %w", ErrUnknown, f.CommandID, err, doubt)
		}
	}
}

func isDuplicate(e *Error) bool {
	return e.Node.Code == CodeDuplicate || e.Node.Code == CodeInFlight
}

// ofAnother reports whether the node says that it was another submission that has executed
// the command.
func ofAnother(e *Error, f *inFlight) bool {
	if existing := e.Node.Context["existing_submission_id"]; existing != "" {
		return existing != f.SubmissionID
	}
	at, ok := executedAt(e)
	return ok && at <= f.begin
}

// executedAt returns the offset at which a command was executed before, if the node says so.
func executedAt(e *Error) (offset int64, ok bool) {
	offset, err := strconv.ParseInt(e.Node.Context["completion_offset"], 10, 64)
	return offset, err == nil && e.Node.Code == CodeDuplicate
}
