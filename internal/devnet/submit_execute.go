package devnet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// commander executes what comes from outside and publishes it: one entry at a time, without
// the goroutines of the pipeline. The lock of the ledger guards it.
type commander struct {
	batch    *batch
	out      rendered
	renderer renderer
	node     nodeRenderer
	prepared uint64 // numbers reserved for prepared submissions
	guest    int    // hints made up for parties
	// live says that time follows the wall clock, by ahead (µs) in front of it.
	live  bool
	ahead int64
}

func newCommander(l *Ledger) *commander {
	c := &commander{batch: &batch{}, renderer: renderer{names: l.names, skipCompact: l.config.SkipCompact}}
	c.node = nodeRenderer{renderer: &c.renderer, view: l.view, witnesses: witnesses{view: l.view}}
	return c
}

// home is the participant that submits and hosts the parties that are added.
func (l *Ledger) home() int {
	if l.view != nil {
		return l.view.participant
	}
	return l.names.busiestValidator()
}

// ready prepares the ledger for something from outside; the caller holds the lock.
func (l *Ledger) ready(ctx context.Context) error {
	if l.failed != nil {
		return l.failed
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("executing commands: %w", err)
	}
	if l.executor.tx.updates+1 > maxUpdates {
		return fmt.Errorf("devnet holds at most %d updates", maxUpdates)
	}
	if l.executor.switchDue() { // commands are not what a migration begins with
		if err := l.runLocked(ctx, 1, nil); err != nil {
			return err
		}
	}
	l.commander.batch.reset()
	return nil
}

// submissionTime is the record time that a submission gets now; the caller holds the lock.
func (l *Ledger) submissionTime() int64 {
	if l.commander.live {
		return max(l.executor.clock.recordTime+minGap, l.clock())
	}
	return l.executor.clock.recordTime + submissionGap
}

// SubmitNoted is Submit; note is what the node remembers of it besides, or nil.
func (l *Ledger) SubmitNoted(ctx context.Context, s Submission, note *keptCompletion) (Committed, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ready(ctx); err != nil {
		return Committed{}, err
	}
	x, b := l.executor, l.commander.batch
	e := journalEntry{Entries: x.tx.entries, Time: l.submissionTime(), Submission: &s, Completion: note, Home: l.home()}
	u, results, err := l.submitter.submit(b, &s, e.Time, e.Home)
	if err != nil {
		return Committed{}, l.refusal(err)
	}
	done := l.committed(u)
	for i := range results {
		done.Results = append(done.Results, compactJSON.appendValue(nil, l.names, &results[i]))
	}
	return done, l.commit(e)
}

// committed says where the update of a submission stands in history.
func (l *Ledger) committed(u *update) Committed {
	done := Committed{UpdateID: string(l.names.ids.appendUpdateID(nil, u.number)), RecordTime: time.UnixMicro(u.recordTime).UTC(),
		EffectiveAt: time.UnixMicro(u.effectiveAt).UTC(), SynchronizerID: l.names.synchronizers[u.synchronizer],
		PaidTrafficCost: u.verdict.total}
	if l.view != nil {
		done.Offset = l.view.offsetOf(u.number)
	}
	return done
}

// refusal returns err as a refusal, unless the ledger is broken.
func (l *Ledger) refusal(err error) error {
	var r *Refusal
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
func (l *Ledger) commit(entries ...journalEntry) error {
	if err := l.executor.tx.err; err != nil {
		return l.stop(err)
	}
	if err := l.journal.add(entries...); err != nil {
		return l.stop(err)
	}
	return l.publish()
}

// publish writes the batch of the commander and makes it visible.
func (l *Ledger) publish() error {
	c := l.commander
	b := c.batch
	c.out.reset()
	c.renderer.render(b, &c.out)
	if l.view != nil {
		c.node.render(b, &c.out)
	}
	c.out.pack()
	if err := l.store.write(&c.out, l.store.end()); err != nil {
		return l.stop(err)
	}
	l.store.publish(&c.out)
	l.active = nil
	b.reset()
	return nil
}

// preparedNumbers is where the numbers of the contracts of prepared submissions begin, so
// that their ids are known before they are executed.
const (
	preparedNumbers    = 1 << 61
	numbersPerPrepared = 2 * maxNodes
)

// Prepare executes commands without effect and returns what they would do. Executing them
// later may have another outcome, as the ledger has gone on.
func (l *Ledger) Prepare(ctx context.Context, s Submission) (Prepared, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ready(ctx); err != nil {
		return Prepared{}, err
	}
	if s.Reserved == 0 {
		l.commander.prepared++
		s.Reserved = preparedNumbers + l.commander.prepared*numbersPerPrepared
	}
	x, b := l.executor, l.commander.batch
	p := Prepared{Submission: s, SynchronizerID: l.names.synchronizers[0]}
	err := l.submitter.rehearse(b, &s, l.submissionTime(), func(e *execution) {
		p.LedgerTime = time.UnixMicro(e.now()).UTC()
		p.Transaction = describeTree(l, e)
		for _, n := range e.used {
			p.Inputs = append(p.Inputs, string(l.names.ids.appendContractID(nil, n)))
		}
		for _, f := range e.attempt.effects {
			if f.created && f.contract.active() {
				p.Created = append(p.Created, contractIDOf(l, f.contract))
			}
		}
	})
	if err != nil {
		return Prepared{}, l.refusal(err)
	}
	if l.journal.kept {
		if err := l.journal.add(journalEntry{Entries: x.tx.entries, Prepared: l.commander.prepared}); err != nil {
			return Prepared{}, l.stop(err)
		}
	}
	return p, nil
}

// describeTree writes the tree of a submission in execution; see Prepared.
func describeTree(l *Ledger, e *execution) json.RawMessage {
	r := renderer{names: l.names}
	dst := []byte{'['}
	for i := range e.tx.current.nodes {
		dst = append(r.describe(dst, &e.tx.current.nodes[i], i, uint8(e.tx.migration)), ',')
	}
	return closing(dst, ']')
}

func (r *renderer) describe(dst []byte, n *node, at int, version uint8) []byte {
	c := n.contract
	if n.choice == "" {
		dst = r.names.ids.appendContractID(append(dst, `{"contractId":"`...), c.number)
		r.arena.reset()
		arguments := c.payload.arguments(&r.arena, c.version)
		dst = compactJSON.appendValue(append(dst, `","createArguments":`...), r.names, &arguments)
		r.sig, r.obs = c.payload.stakeholders(r.sig[:0], r.obs[:0])
		dst = r.parties(append(dst, `,"observers":`...), r.names.sortParties(r.obs))
		dst = r.parties(append(dst, `,"signatories":`...), r.names.sortParties(r.sig))
		return append(appendPlain(append(dst, `,"templateId":`...), r.names.templateIDs[c.template.number][c.version]), '}')
	}
	dst = r.parties(append(dst, `{"actingParties":`...), n.actors)
	dst = appendPlain(append(dst, `,"choice":`...), n.choice)
	dst = compactJSON.appendValue(append(dst, `,"choiceArgument":`...), r.names, &n.argument)
	dst = strconv.AppendBool(append(dst, `,"consuming":`...), n.consuming)
	dst = r.names.ids.appendContractID(append(dst, `,"contractId":"`...), c.number)
	dst = strconv.AppendInt(append(dst, `","descendants":`...), int64(n.end)-int64(at)-1, 10)
	dst = compactJSON.appendValue(append(dst, `,"exerciseResult":`...), r.names, &n.result)
	if n.iface != "" {
		dst = appendPlain(append(dst, `,"interfaceId":`...), n.iface)
	}
	return append(appendPlain(append(dst, `,"templateId":`...), r.names.templateIDs[c.template.number][version]), '}')
}

// maxHint is the longest that the network allows.
const maxHint = 185

// AllocateParty adds a party to the participant whose view is kept, or else to the
// busiest validator, and returns once that is visible on the node's stream. With the
// ed25519 public key (32 bytes) of an external party, which signs its transactions itself,
// the party is hint::Fingerprint(key). Without a hint one is made up. A party that is there
// already is a *Refusal with INVALID_ARGUMENT.
func (l *Ledger) AllocateParty(ctx context.Context, hint string, publicKey []byte) (Allocation, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ready(ctx); err != nil {
		return Allocation{}, err
	}
	home := l.home()
	if hint == "" {
		hint = freeHint(l, home)
	}
	if !validHint(hint) {
		return Allocation{}, refuse(CodeInvalidArgument, "party hint %.200q has not 1 to %d letters, digits, - or _", hint, maxHint)
	}
	added := addedParty{name: partyAt(l, hint, home), participant: home}
	if publicKey != nil {
		if len(publicKey) != ed25519KeyBytes {
			return Allocation{}, refuse(CodeInvalidArgument, "an ed25519 public key has %d bytes, not %d", ed25519KeyBytes, len(publicKey))
		}
		added.name, added.external = hint+partyNamespaceMark+Fingerprint(publicKey), true
	}
	if _, ok := l.names.named(added.name); ok {
		return Allocation{}, refuse(CodeInvalidArgument, "Party already exists: party %s is already allocated on this node", added.name)
	}
	p := l.names.add(added)
	e := journalEntry{Entries: l.executor.tx.entries, Time: l.submissionTime(), Home: home, Party: &p, Name: added.name, Key: publicKey}
	if added.external {
		l.parties.setKey(added.name, slices.Clone(publicKey))
	}
	l.executor.allocate(l.commander.batch, p, e.Time)
	u := l.executor.tx.current
	a := Allocation{Party: added.name, RecordTime: schemas.Micros(u.recordTime).Time()}
	if l.view != nil {
		a.Offset = l.view.offsetOf(u.number)
	}
	return a, l.commit(e)
}

// freeHint makes up a hint that is not in use.
func freeHint(l *Ledger, participant int) string {
	for {
		l.commander.guest++
		hint := "party-" + strconv.Itoa(l.commander.guest)
		if _, ok := l.names.named(partyAt(l, hint, participant)); !ok {
			return hint
		}
	}
}

const ed25519KeyBytes = 32

func validHint(hint string) bool {
	for _, c := range []byte(hint) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return len(hint) > 0 && len(hint) <= maxHint
}

// fingerprintOf is the part of an identity behind its hint.
func fingerprintOf(identity string) string {
	return identity[len(identity)-len(fingerprintPrefix)-64:]
}

// hasPrepared reports whether Prepare gave out the ids of contracts that a submission is to
// create. Others could be those of contracts that are there.
func hasPrepared(l *Ledger, reserved uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := reserved - preparedNumbers
	return reserved > preparedNumbers && n%numbersPerPrepared == 0 && n/numbersPerPrepared <= l.commander.prepared
}

// partyAt is the id of a party in the namespace of a participant.
func partyAt(l *Ledger, hint string, participant int) string {
	return hint + partyNamespaceMark + fingerprintOf(l.names.participants[participant])
}

func contractIDOf(l *Ledger, c *contract) string {
	return string(l.names.ids.appendContractID(nil, c.number))
}
