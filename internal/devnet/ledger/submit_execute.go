package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/prepared"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// commander executes what comes from outside and publishes it: one entry at a time, without
// the goroutines of the pipeline. The lock of the ledger guards it.
type commander struct {
	batch    *sim.Batch
	out      history.Rendered
	renderer history.Renderer
	node     history.NodeRenderer
	Prepared uint64 // numbers reserved for prepared submissions
	guest    int    // hints made up for parties
	// live says that time follows the wall clock, by ahead (µs) in front of it.
	live  bool
	ahead int64
}

func newCommander(l *Ledger) *commander {
	c := &commander{batch: &sim.Batch{}, renderer: history.Renderer{Names: l.Names, SkipCompact: l.Config.SkipCompact}}
	c.node = history.NodeRenderer{Renderer: &c.renderer, View: l.View, Witnesses: history.Witnesses{View: l.View}}
	return c
}

// home is the participant that submits and hosts the parties that are added.
func (l *Ledger) home() int {
	if l.View != nil {
		return l.View.Participant
	}
	return l.Names.BusiestValidator()
}

// ready prepares the ledger for something from outside; the caller holds the lock.
func (l *Ledger) ready(ctx context.Context) error {
	if l.failed != nil {
		return l.failed
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("executing commands: %w", err)
	}
	if l.Executor.Tx.Updates+1 > sim.MaxUpdates {
		return fmt.Errorf("devnet holds at most %d updates", sim.MaxUpdates)
	}
	if l.Executor.SwitchDue() { // commands are not what a migration begins with
		if err := l.runLocked(ctx, 1, nil); err != nil {
			return err
		}
	}
	l.Commander.batch.Reset()
	return nil
}

// submissionTime is the record time that a submission gets now; the caller holds the lock.
func (l *Ledger) submissionTime() int64 {
	if l.Commander.live {
		return max(l.Executor.Clock.RecordTime+sim.MinGap, l.clock())
	}
	return l.Executor.Clock.RecordTime + choices.SubmissionGap
}

// SubmitNoted is Submit; note is what the node remembers of it besides, or nil.
func (l *Ledger) SubmitNoted(ctx context.Context, s choices.Submission, note *KeptCompletion) (Committed, error) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if err := l.ready(ctx); err != nil {
		return Committed{}, err
	}
	x, b := l.Executor, l.Commander.batch
	e := JournalEntry{Entries: x.Tx.Entries, Time: l.submissionTime(), Submission: &s, Completion: note, Home: l.home()}
	u, results, err := l.submitter.Submit(b, &s, e.Time, e.Home)
	if err != nil {
		return Committed{}, l.refusal(err)
	}
	done := l.committed(u)
	for i := range results {
		done.Results = append(done.Results, model.CompactJSON.AppendValue(nil, l.Names, &results[i]))
	}
	return done, l.commit(e)
}

// committed says where the update of a submission stands in history.
func (l *Ledger) committed(u *sim.Update) Committed {
	done := Committed{UpdateID: string(l.Names.IDs.AppendUpdateID(nil, u.Number)), RecordTime: time.UnixMicro(u.RecordTime).UTC(),
		EffectiveAt: time.UnixMicro(u.EffectiveAt).UTC(), SynchronizerID: l.Names.Synchronizers[u.Synchronizer],
		PaidTrafficCost: u.Verdict.Total}
	if l.View != nil {
		done.Offset = l.View.OffsetOf(u.Number)
	}
	return done
}

// refusal returns err as a refusal, unless the ledger is broken.
func (l *Ledger) refusal(err error) error {
	var r *choices.Refusal
	if errors.As(err, &r) {
		return r
	}
	return l.stop(err)
}

func (l *Ledger) stop(err error) error {
	l.failed = fmt.Errorf("devnet stopped: %w", err)
	return l.failed
}

// commit notes why what is in the batch of the commander was executed, and makes it visible.
func (l *Ledger) commit(entries ...JournalEntry) error {
	if err := l.Executor.Tx.Err; err != nil {
		return l.stop(err)
	}
	if err := l.Journal.Add(entries...); err != nil {
		return l.stop(err)
	}
	return l.publish()
}

// publish writes the batch of the commander and makes it visible.
func (l *Ledger) publish() error {
	c := l.Commander
	b := c.batch
	c.out.Reset()
	c.renderer.Render(b, &c.out)
	if l.View != nil {
		c.node.Render(b, &c.out)
	}
	c.out.Pack()
	if err := l.Store.Write(&c.out, l.Store.End()); err != nil {
		return l.stop(err)
	}
	l.Store.Publish(&c.out)
	l.active = nil
	b.Reset()
	return nil
}

// preparedNumbers is where the numbers of the contracts of prepared submissions begin, so
// that their ids are known before they are executed.
const (
	PreparedNumbers    = 1 << 61
	numbersPerPrepared = 2 * choices.MaxNodes
)

// Prepare executes commands without effect and returns what they would do, as the message that
// package prepared describes. Executing them later may have another outcome, as the ledger has
// gone on.
func (l *Ledger) Prepare(ctx context.Context, s choices.Submission) ([]byte, error) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if err := l.ready(ctx); err != nil {
		return nil, err
	}
	if s.Reserved == 0 {
		l.Commander.Prepared++
		s.Reserved = PreparedNumbers + l.Commander.Prepared*numbersPerPrepared
	}
	x, b := l.Executor, l.Commander.batch
	draft := prepared.Draft{Names: l.Names, Submission: &s, SynchronizerID: l.Names.Synchronizers[0], PreparedAt: l.clock()}
	var message []byte
	err := l.submitter.Rehearse(b, &s, l.submissionTime(), func(e *choices.Execution) {
		draft.Update, draft.Inputs = e.Tx.Current, e.Used
		message = draft.Encode()
	})
	if err != nil {
		return nil, l.refusal(err)
	}
	if l.Journal.kept {
		if err := l.Journal.Add(JournalEntry{Entries: x.Tx.Entries, Prepared: l.Commander.Prepared}); err != nil {
			return nil, l.stop(err)
		}
	}
	return message, nil
}

// MaxHint is the longest that the network allows.
const MaxHint = 185

// AllocateParty adds a party to the participant whose view is kept, or else to the
// busiest validator, and returns once that is visible on the node's stream. With the
// ed25519 public key (32 bytes) of an external party, which signs its transactions itself,
// the party is hint::Fingerprint(key). Without a hint one is made up. A party that is there
// already is a *Refusal with INVALID_ARGUMENT.
func (l *Ledger) AllocateParty(ctx context.Context, hint string, publicKey []byte) (Allocation, error) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if err := l.ready(ctx); err != nil {
		return Allocation{}, err
	}
	home := l.home()
	if hint == "" {
		hint = freeHint(l, home)
	}
	if !ValidHint(hint) {
		return Allocation{}, choices.Refuse(choices.CodeInvalidArgument, "party hint %.200q has not 1 to %d letters, digits, - or _", hint, MaxHint)
	}
	added := model.AddedParty{Name: partyAt(l, hint, home), Participant: home}
	if publicKey != nil {
		if len(publicKey) != ed25519KeyBytes {
			return Allocation{}, choices.Refuse(choices.CodeInvalidArgument, "an ed25519 public key has %d bytes, not %d", ed25519KeyBytes, len(publicKey))
		}
		added.Name, added.External = hint+model.PartyNamespaceMark+model.Fingerprint(publicKey), true
	}
	if _, ok := l.Names.Named(added.Name); ok {
		return Allocation{}, choices.Refuse(choices.CodeInvalidArgument, "Party already exists: party %s is already allocated on this node", added.Name)
	}
	p := l.Names.Add(added)
	e := JournalEntry{Entries: l.Executor.Tx.Entries, Time: l.submissionTime(), Home: home, Party: &p, Name: added.Name, Key: publicKey}
	if added.External {
		l.Parties.setKey(added.Name, slices.Clone(publicKey))
	}
	l.Executor.Allocate(l.Commander.batch, p, e.Time)
	u := l.Executor.Tx.Current
	a := Allocation{Party: added.Name, RecordTime: schemas.Micros(u.RecordTime).Time()}
	if l.View != nil {
		a.Offset = l.View.OffsetOf(u.Number)
	}
	return a, l.commit(e)
}

// freeHint makes up a hint that is not in use.
func freeHint(l *Ledger, participant int) string {
	for {
		l.Commander.guest++
		hint := "party-" + strconv.Itoa(l.Commander.guest)
		if _, ok := l.Names.Named(partyAt(l, hint, participant)); !ok {
			return hint
		}
	}
}

const ed25519KeyBytes = 32

// ValidHint reports whether a party can have the hint.
func ValidHint(hint string) bool {
	for _, c := range []byte(hint) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return len(hint) > 0 && len(hint) <= MaxHint
}

// fingerprintOf is the part of an identity behind its hint.
func fingerprintOf(identity string) string {
	return identity[len(identity)-len(model.FingerprintPrefix)-64:]
}

// HasPrepared reports whether Prepare gave out the ids of contracts that a submission is to
// create. Others could be those of contracts that are there.
func HasPrepared(l *Ledger, reserved uint64) bool {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	n := reserved - PreparedNumbers
	return reserved > PreparedNumbers && n%numbersPerPrepared == 0 && n/numbersPerPrepared <= l.Commander.Prepared
}

// partyAt is the id of a party in the namespace of a participant.
func partyAt(l *Ledger, hint string, participant int) string {
	return hint + model.PartyNamespaceMark + fingerprintOf(l.Names.Participants[participant])
}

// ContractIDOf is the id of a contract.
func ContractIDOf(l *Ledger, c *model.Contract) string {
	return string(l.Names.IDs.AppendContractID(nil, c.Number))
}
