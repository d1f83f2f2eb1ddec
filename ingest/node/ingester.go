package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Ingester brings what a participant's parties see into one stream of a sink. Backfill
// and Run must not run at the same time; Status may be called at any time.
type Ingester struct {
	cfg      Config
	client   *client
	log      *slog.Logger
	status   *progress
	writer   *stream.Writer
	decoders []*decoder
	feeds    *feeds

	noticed sync.Map // members that were warned of, by where and name

	// The rest belongs to the goroutine that runs Backfill or Run.

	participant string
	stream      string
	// batches covers what follows the sink's position; through is where reading continues.
	batches *batcher
	// last is the update before that, if the last session read one there.
	last *schemas.Update
	// target is the ledger's end as of the start of the session: behind it the stream is
	// followed.
	target int64
	pruned int64
	// streamed says that the node has given the stream, or that there was nothing to give:
	// address and token are good.
	streamed bool
}

// New checks cfg and fills in its defaults. It does not talk to the node yet.
func New(cfg Config) (*Ingester, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	c, err := newClient(&cfg)
	if err != nil {
		return nil, err
	}
	ing := &Ingester{cfg: cfg, client: c, status: &progress{Progress: stream.NewProgress(cfg.Now)}, log: cfg.Log.With("upstream", c.name)}
	ing.writer = stream.NewWriter(&ing.cfg.Settings, ing.status.Progress, ing.log)
	ing.cfg.interfaces = &interfaces{client: c, cfg: &ing.cfg, log: ing.log}
	for range cfg.Workers {
		ing.decoders = append(ing.decoders, ing.newDecoder())
	}
	ing.feeds = newFeeds(c, &ing.cfg)
	return ing, nil
}

// newDecoder returns one for what is stored.
func (ing *Ingester) newDecoder() *decoder {
	d := newDecoder(ing.cfg.MigrationID, ing.notice)
	d.computed = ing.cfg.Computed
	return d
}

// Status says how far the ingest is.
func (ing *Ingester) Status() Status { return ing.status.snapshot() }

// notice logs, once each, members of updates for which schemas.Update has no field. It is
// safe for concurrent use.
func (ing *Ingester) notice(where, member string) {
	if _, known := ing.noticed.LoadOrStore(where+" "+member, true); known {
		return
	}
	ing.status.unmapped(where + ": " + member)
	ing.log.Warn("the node returned something that this release does not store: a newer release of ledgerlake may", "in", where, "member", member)
}

// Identify finds out whose stream it is, which Status says from then on. It asks the node until it
// works or its failures are permanent.
func (ing *Ingester) Identify(ctx context.Context) error {
	if ing.participant != "" {
		return nil
	}
	return ing.callNode(ctx, "asking the node for its participant id", func() error { return ing.askParticipant(ctx) })
}

// Backfill brings the stream to the ledger's end as of now. It returns the reason when
// ctx ends earlier; an error for which schemas.NeedsPerson is true, ErrPruned among
// them, or ErrDenied, when a person must act; or the failure that was retried for
// Config.GiveUpAfter.
func (ing *Ingester) Backfill(ctx context.Context) error {
	if err := ing.backfill(ctx); err != nil {
		err = ing.remember(ctx, err)
		ing.status.Stopped(err)
		return err
	}
	ing.status.SetPhase(stream.PhaseCaughtUp, "")
	return nil
}

func (ing *Ingester) backfill(ctx context.Context) error {
	begin := ing.cfg.Now()
	if err := ing.resume(ctx); err != nil {
		return err
	}
	end, err := ing.ledgerEnd(ctx)
	if err != nil {
		return err
	}
	ing.status.SetPhase(stream.PhaseHistory, "")
	if err := ing.pull(ctx, end, ing.writer.Write); err != nil {
		return err
	}
	if err := ing.flush(ctx); err != nil {
		return err
	}
	s := ing.Status()
	ing.log.InfoContext(ctx, "the node's stream has caught up", "stream", ing.stream, "source", s.Source,
		"offset", ing.batches.through.Offset, "updates", s.Updates, "imports", s.Imports, "bytes", s.Bytes, "elapsed", ing.cfg.Now().Sub(begin))
	return nil
}

// Run backfills and then follows the node until ctx ends, which it reports as the
// reason why it ended. Other errors are those of Backfill.
func (ing *Ingester) Run(ctx context.Context) error {
	if err := ing.Backfill(ctx); err != nil {
		return err
	}
	ing.status.SetPhase(stream.PhaseFollowing, "")
	err := ing.remember(ctx, ing.pull(ctx, 0, ing.writer.Write))
	ing.status.Stopped(err)
	return err
}

// remember has the sink store the one reason to stop that a restart would not find again: an
// update is missing before the position at which the stream would continue.
func (ing *Ingester) remember(ctx context.Context, err error) error {
	sink, ok := ing.cfg.Sink.(Stopper)
	if !ok || !errors.Is(err, errLate) {
		return err
	}
	return errors.Join(err, sink.Stop(ctx, ing.stream, strings.Join(strings.Fields(err.Error()), " ")))
}

// resume finds out whose stream it is and its position, repeats a batch that was announced but perhaps not written in full, and reads the active contracts that the
// stream of a pruned node begins with.
func (ing *Ingester) resume(ctx context.Context) error {
	ing.status.SetPhase(stream.PhaseStarting, "")
	ing.batches = nil
	if err := ing.callNode(ctx, "asking the node for its participant id", func() error { return ing.askParticipant(ctx) }); err != nil {
		return err
	}
	ing.stream = schemas.NodeStream(ing.participant)
	resume, err := ing.writer.Resume(ctx, ing.stream)
	if err != nil {
		return err
	}
	if err := checkResume(ing.stream, resume); err != nil {
		return err
	}
	ing.moveTo(resume.Committed)
	if err := ing.callNode(ctx, "asking the node for the ends of its history", func() error { return ing.checkNode(ctx) }); err != nil {
		return err
	}
	ing.log.InfoContext(ctx, "ingest starts", "stream", ing.stream, "position", resume.Committed, "pending", resume.Pending != nil,
		"ledger_end", ing.target, "pruned_through", ing.pruned)
	if resume.Pending != nil {
		if err := ing.repeat(ctx, resume.Pending); err != nil {
			return fmt.Errorf("repeating the unfinished batch after %s through %s: %w", resume.Pending.After, resume.Pending.Through, err)
		}
	}
	if at := ing.batches.After; isImport(at) {
		return ing.readActive(ctx, at.Offset, at.UpdateID)
	}
	return ing.begin(ctx)
}

// beginTries is how often a set of active contracts may be pruned while it is read,
// before anything of it was written, until that is an error.
const beginTries = 3

// begin reads the active contracts if the stream has nothing yet and the node no longer
// has all that was before.
func (ing *Ingester) begin(ctx context.Context) error {
	for tries := 1; ing.batches.After == schemas.Start && ing.pruned > 0; tries++ {
		err := ing.readActive(ctx, ing.target, "")
		if err == nil || !errors.Is(err, ErrPruned) || tries == beginTries {
			return err
		}
		if err := ing.callNode(ctx, "asking the node for the ends of its history", func() error { return ing.checkNode(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

// checkResume makes sure that the positions are those of a node's stream.
func checkResume(stream string, r schemas.Resume) error {
	positions := []schemas.Position{r.Committed}
	if r.Pending != nil {
		positions = append(positions, r.Pending.After, r.Pending.Through)
	}
	for _, p := range positions {
		if p != schemas.Start && (p.Offset <= 0 || !isImport(p) && p != schemas.AtOffset(p.Offset)) {
			return fmt.Errorf("%w: stream %s is at %s, which is not a position of a node's stream", schemas.ErrDiverged, stream, p)
		}
	}
	return nil
}

// isImport reports whether p is among the contracts that a stream began with.
func isImport(p schemas.Position) bool {
	return p.Offset > 0 && p.RecordTime == schemas.MinMicros && p.UpdateID != ""
}

// moveTo begins a new batch after p.
func (ing *Ingester) moveTo(p schemas.Position) {
	ing.batches = ing.newBatcher(p)
	ing.status.Moved(p)
}

func (ing *Ingester) newBatcher(after schemas.Position) *batcher {
	return &batcher{
		Batcher: stream.Batcher{Stream: ing.stream, MaxItems: ing.cfg.BatchItems, MaxBytes: ing.cfg.BatchBytes, After: after},
		every:   ing.cfg.CheckpointEvery, maxWait: ing.cfg.MaxWait, now: ing.cfg.Now, through: after,
		storedTimes: make(map[string]schemas.Micros), pendingTimes: make(map[string]schemas.Micros),
	}
}

// flush writes the last batch of a backfill even if it has no items: there may be no later
// batch to say that nothing more came.
func (ing *Ingester) flush(ctx context.Context) error {
	if !ing.batches.After.Before(ing.batches.through) {
		return nil
	}
	if err := ing.writer.Write(ctx, ing.batches.batch()); err != nil {
		return err
	}
	ing.batches.next()
	return nil
}

// callNode calls the node until it works or its failures are permanent.
func (ing *Ingester) callNode(ctx context.Context, doing string, call func() error) error {
	failures := ing.newFailures()
	for {
		err := call()
		if err == nil {
			return nil
		}
		if err := failures.again(ctx, err); err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
}

// ledgerEnd asks for the ledger's end.
func (ing *Ingester) ledgerEnd(ctx context.Context) (end int64, err error) {
	err = ing.callNode(ctx, "asking for the ledger's end", func() error {
		end, err = ing.askLedgerEnd(ctx)
		return err
	})
	return end, err
}

func (ing *Ingester) askLedgerEnd(ctx context.Context) (int64, error) {
	var answer struct {
		Offset *int64 `json:"offset"`
	}
	if err := ing.client.get(ctx, ledgerEndOperation, &answer); err != nil {
		return 0, err
	}
	if answer.Offset == nil {
		return 0, nil // an empty ledger
	}
	ing.status.end(*answer.Offset)
	return *answer.Offset, nil
}

// checkNode asks the node who it is and which offsets it has, and makes sure that it is the
// one that the stream comes from and still has what comes next.
func (ing *Ingester) checkNode(ctx context.Context) error {
	if err := ing.askParticipant(ctx); err != nil {
		return err
	}
	var pruned struct {
		Offset *int64 `json:"participantPrunedUpToInclusive"`
	}
	if err := ing.client.get(ctx, prunedOperation, &pruned); err != nil {
		return err
	}
	ing.pruned = 0
	if pruned.Offset != nil {
		ing.pruned = *pruned.Offset
	}
	end, err := ing.askLedgerEnd(ctx)
	if err != nil {
		return err
	}
	ing.target = end
	at := ing.batches.through
	switch {
	case at == schemas.Start:
	case at.Offset > end:
		return &Error{
			Upstream: ing.client.name, Operation: ledgerEndOperation, Code: codeAfterEnd,
			Err: fmt.Errorf("the ledger ends at offset %d", end),
		}
	case at.Offset < ing.pruned:
		return ing.prunedError(at)
	}
	return ing.cfg.interfaces.look(ctx)
}

// askParticipant checks whose node answers. A node that does not say is taken for
// the configured one.
func (ing *Ingester) askParticipant(ctx context.Context) error {
	var answer struct {
		ID string `json:"participantId"`
	}
	err := ing.client.get(ctx, participantOperation, &answer)
	known := cmp.Or(ing.participant, ing.cfg.ParticipantID)
	switch {
	case err != nil && known != "" && refused(err):
		ing.participant = known
		return nil
	case err != nil:
		return err
	case answer.ID == "":
		return &Error{Upstream: ing.client.name, Operation: participantOperation,
			Err: fmt.Errorf("%w: the node does not report its participant id", schemas.ErrMalformed)}
	case known != "" && answer.ID != known:
		return fmt.Errorf("%w: the stream is that of participant %s, but %s is the node of participant %s: offsets are not comparable between nodes",
			schemas.ErrDiverged, known, ing.client.name, answer.ID)
	}
	ing.participant = answer.ID
	ing.status.participant(answer.ID)
	return nil
}

// prunedError explains that the node does not have what comes next, and the ways out.
func (ing *Ingester) prunedError(at schemas.Position) error {
	need := fmt.Sprintf("updates after offset %d", at.Offset)
	if isImport(at) {
		need = fmt.Sprintf("the contracts that were active at offset %d", at.Offset)
	}
	return fmt.Errorf("%w: stream %s is committed up to %s and needs %s, but %s has pruned everything through offset %d. "+
		"To fix it, ingest from a backup of the same participant that still has offset %d; or drop the rows "+
		"of stream %s in all tables and start again: it then begins with the contracts that are active now, "+
		"and the history in between is lost",
		ErrPruned, ing.stream, at, need, ing.client.name, ing.pruned, at.Offset, ing.stream)
}

// lostError explains that the node's ledger ends before the stream does.
func (ing *Ingester) lostError(at schemas.Position, err error) error {
	return fmt.Errorf("%w: stream %s is committed up to offset %d, which the ledger of %s has not reached: the node was "+
		"restored from an older state, or it is another node (%w)",
		schemas.ErrDiverged, ing.stream, at.Offset, ing.client.name, err)
}
