package nodeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Change is what a command wants to bring about: the same user with the same parties and
// the same command id wants the same thing, which is to happen once.
type Change struct{ user, parties, command string }

// NewChange returns the change of a command; the order of parties does not matter.
func NewChange(user string, actAs []string, command string) Change {
	return Change{user, strings.Join(slices.Compact(slices.Sorted(slices.Values(actAs))), "\n"), command}
}

// Completion tells that a command was executed. Refused commands have none: whoever
// submitted them was told.
type Completion struct {
	Change       Change
	actAs        []string
	SubmissionID string
	updateID     string
	Offset       int64
	RecordTime   int64 // µs
	period       DeduplicationPeriod
	trafficCost  int64 // bytes, 0 if none was paid
	synchronizer string
	signed       string // hash that the parties signed, "" for others
}

// completionLog remembers the last completions, for those who ask for them and against
// commands that come twice. Its methods may be called concurrently.
type completionLog struct {
	most int // completions kept

	mu      sync.Mutex
	Entries []Completion // ordered by offset
	Last    map[Change]*executedChange
	signed  map[string]*executedChange // by the hash that was signed
	running map[Change]int64           // commands in execution: ledger end when that began
	grown   chan struct{}              // closed when there are more entries or fewer running
	Dropped int64                      // offset up to which completions were forgotten
}

// executedChange is the last execution of a change.
type executedChange struct {
	offset     int64
	recordTime int64
	submission string
}

// NewCompletionLog returns an empty log that keeps so many completions.
func NewCompletionLog(most int) *completionLog {
	return &completionLog{most: most, Last: map[Change]*executedChange{},
		signed: map[string]*executedChange{}, running: map[Change]int64{}, grown: make(chan struct{})}
}

// Begin admits a command unless the same change is in execution, or was executed within
// the period. ledgerEnd and now are those of the ledger; finish must follow if it was
// admitted.
func (l *completionLog) Begin(c Change, p DeduplicationPeriod, ledgerEnd, now int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.running[c]; ok {
		return nodeRefusal("SUBMISSION_ALREADY_IN_FLIGHT", "The submission is already in flight: command %s", c.command)
	}
	if before := l.Last[c]; before != nil && p.covers(before, now) {
		return before.duplicate("A command with the given command id has already been successfully processed")
	}
	l.running[c] = ledgerEnd
	return nil
}

// checkSigned refuses what was signed if it was executed before, under whatever id and however
// long ago, as far as completions are kept. The ledger knows of all.
func (l *completionLog) checkSigned(hash string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before := l.signed[hash]; before != nil {
		return before.duplicate("The prepared transaction has already been executed")
	}
	return nil
}

// duplicate is the error of a command that comes again.
func (c *executedChange) duplicate(text string) error {
	e := nodeRefusal("DUPLICATE_COMMAND", "%s", text)
	e.Context["completion_offset"] = strconv.FormatInt(c.offset, 10)
	e.Context["existing_submission_id"] = c.submission
	definite := false
	e.Definite, e.Context["definite_answer"] = &definite, "false"
	return e
}

// Finish ends the execution of a change; done is nil if it was refused.
func (l *completionLog) Finish(c Change, done *Completion) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, c)
	if done != nil {
		at := sort.Search(len(l.Entries), func(i int) bool { return l.Entries[i].Offset > done.Offset })
		l.Entries = slices.Insert(l.Entries, at, *done)
		executed := &executedChange{done.Offset, done.RecordTime, done.SubmissionID}
		l.Last[c] = executed
		if done.signed != "" {
			l.signed[done.signed] = executed
		}
		l.forget()
	}
	close(l.grown)
	l.grown = make(chan struct{})
}

// restore takes over the completions of an earlier process, in order of their offsets.
func (l *completionLog) restore(all []ledger.KeptSubmission) {
	for _, k := range all {
		c := completionOf(k.Note, k.Submission, k.Done)
		l.Finish(c.Change, c)
	}
}

// forget drops the oldest eighth of the completions when there are too many.
func (l *completionLog) forget() {
	if len(l.Entries) <= l.most {
		return
	}
	n := l.most/8 + 1
	for _, e := range l.Entries[:n] {
		if last := l.Last[e.Change]; last != nil && last.offset == e.Offset {
			delete(l.Last, e.Change)
		}
		delete(l.signed, e.signed)
	}
	l.Dropped = l.Entries[n-1].Offset
	l.Entries = slices.Delete(l.Entries, 0, n)
}

// Settled is the offset up to which no completion can follow any more, given the ledger
// end; the caller holds the lock.
func (l *completionLog) Settled(ledgerEnd int64) int64 {
	for _, began := range l.running {
		ledgerEnd = min(ledgerEnd, began)
	}
	return ledgerEnd
}

// completionsRequest is a request for completions.
type completionsRequest struct {
	UserID  string   `json:"userId"`
	Parties []string `json:"parties"`
	Begin   int64    `json:"beginExclusive"`
}

// completionsOf opens streams of completions.
func (n *commandServer) completionsOf(ctx context.Context, body []byte) (elementStream, error) {
	var q completionsRequest
	if err := reply.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	user, err := principalOf(ctx).userFor(q.UserID)
	if err != nil {
		return nil, err
	}
	if len(q.Parties) == 0 {
		return nil, missingField("parties")
	}
	return n.openCompletions(ctx, &completionStream{node: n, user: user, parties: q.Parties, cursor: q.Begin})
}

// commandCompletionsOf opens streams of the completions of some parties, or of all, whoever submitted the
// commands.
func (n *commandServer) commandCompletionsOf(ctx context.Context, body []byte) (elementStream, error) {
	var q completionsRequest
	if err := reply.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	if len(q.Parties) == 0 {
		if err := principalOf(ctx).mayReadAny(); err != nil {
			return nil, err
		}
	}
	return n.openCompletions(ctx, &completionStream{node: n, anyUser: true, parties: q.Parties, cursor: q.Begin})
}

// openCompletions checks a stream of completions that begins after its cursor.
func (n *commandServer) openCompletions(ctx context.Context, c *completionStream) (elementStream, error) {
	who := principalOf(ctx)
	for _, name := range c.parties {
		if err := checkPartyID("parties", name); err != nil {
			return nil, err
		}
		if err := who.mayReadAs(name); err != nil {
			return nil, err
		}
	}
	n.completions.mu.Lock()
	dropped := n.completions.Dropped
	n.completions.mu.Unlock()
	switch end := n.reads.currentEnd(); {
	case c.cursor < 0:
		return nil, invalidArgument("begin_exclusive %d is negative", c.cursor)
	case c.cursor > end:
		return nil, afterLedgerEnd("Begin", c.cursor, end)
	case c.cursor < dropped && c.cursor > 0:
		return nil, prunedData(c.cursor, dropped)
	}
	c.cursor = max(c.cursor, dropped)
	return c, nil
}

// userFor returns the user on whose behalf a request is made, that may name it.
func (p principal) userFor(named string) (string, error) {
	switch {
	case named == "" || named == p.user:
		return p.user, nil
	case p.everything:
		return named, nil
	}
	return "", permissionDenied()
}

// completionStream gives the completions of a user's commands, without end.
type completionStream struct {
	node    *commandServer
	user    string // whose commands, unless anyUser
	anyUser bool
	parties []string // none stands for all
	cursor  int64    // all up to here was given
}

func (c *completionStream) Close() {}

func (c *completionStream) take() ([][]byte, <-chan struct{}, bool, error) {
	l := c.node.completions
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.cursor < l.Dropped {
		return nil, nil, false, prunedData(c.cursor, l.Dropped)
	}
	// The end is read while no command can begin or finish: whatever was executed up to it
	// is among the entries or running.
	settled := l.Settled(c.node.reads.currentEnd())
	var elements [][]byte
	first := sort.Search(len(l.Entries), func(i int) bool { return l.Entries[i].Offset > c.cursor })
	for i := first; i < len(l.Entries) && l.Entries[i].Offset <= settled && len(elements) < itemsPerTake; i++ {
		e := &l.Entries[i]
		c.cursor = e.Offset
		if !c.wants(e) {
			continue
		}
		element, err := e.element()
		if err != nil {
			return nil, nil, false, err
		}
		elements = append(elements, element)
	}
	if len(elements) > 0 {
		return elements, nil, false, nil
	}
	c.cursor = max(c.cursor, settled)
	return nil, l.grown, false, nil
}

func (c *completionStream) wants(e *Completion) bool {
	return (c.anyUser || e.Change.user == c.user) && (len(c.parties) == 0 ||
		slices.ContainsFunc(e.actAs, func(p string) bool { return slices.Contains(c.parties, p) }))
}

// idle returns a checkpoint: how far the stream has come.
func (c *completionStream) idle() []byte {
	if c.cursor == 0 {
		return nil
	}
	dst := append([]byte(nil), `{"completionResponse":`...)
	return append(c.node.store.AppendCheckpoint(dst, c.node.view, c.cursor), '}')
}

// WireCompletion is a completion as answers have it.
type WireCompletion struct {
	ActAs           []string          `json:"actAs"`
	CommandID       string            `json:"commandId"`
	Period          json.RawMessage   `json:"deduplicationPeriod"`
	Offset          int64             `json:"offset"`
	PaidTrafficCost int64             `json:"paidTrafficCost,omitempty"`
	Status          wireStatus        `json:"status"`
	SubmissionID    string            `json:"submissionId"`
	Time            map[string]string `json:"synchronizerTime"`
	UpdateID        string            `json:"updateId"`
	UserID          string            `json:"userId"`
}

// wireStatus is the outcome of a command; code 0 is success.
type wireStatus struct {
	Code    int32    `json:"code"`
	Details []string `json:"details"`
	Message string   `json:"message"`
}

func (e *Completion) element() ([]byte, error) {
	value := WireCompletion{ActAs: e.actAs, CommandID: e.Change.command, Period: e.period.wire(), Offset: e.Offset,
		PaidTrafficCost: e.trafficCost, Status: wireStatus{Details: []string{}}, SubmissionID: e.SubmissionID,
		Time:     map[string]string{"recordTime": recordTimeText(e.RecordTime), "synchronizerId": e.synchronizer},
		UpdateID: e.updateID, UserID: e.Change.user}
	body, err := json.Marshal(map[string]any{"completionResponse": map[string]any{"Completion": map[string]any{"value": value}}})
	if err != nil {
		return nil, fmt.Errorf("encoding the completion of command %s: %w", e.Change.command, err)
	}
	return body, nil
}

func recordTimeText(micros int64) string {
	return string(schemas.AppendRecordTime(nil, schemas.Micros(micros)))
}

// newKeptCompletion is what to remember of a request.
func newKeptCompletion(o *commandRequest) *ledger.KeptCompletion {
	return &ledger.KeptCompletion{SubmissionID: o.submissionID, Kind: o.period.Kind, Duration: o.period.Duration, Offset: o.period.Offset, Signed: []byte(o.signed)}
}

// completionOf is that of a submission that was executed.
func completionOf(k *ledger.KeptCompletion, s *choices.Submission, done ledger.Committed) *Completion {
	return &Completion{Change: NewChange(s.UserID, s.ActAs, s.CommandID), actAs: s.ActAs, SubmissionID: k.SubmissionID,
		updateID: done.UpdateID, Offset: done.Offset, RecordTime: done.RecordTime.UnixMicro(),
		period:      DeduplicationPeriod{k.Kind, k.Duration, k.Offset},
		trafficCost: done.PaidTrafficCost, synchronizer: done.SynchronizerID, signed: string(k.Signed)}
}
