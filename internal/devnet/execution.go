package devnet

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// execution is a submission in execution. Contracts are created and archived at once, as
// by all else on the ledger, and taken back if the submission is refused. What the executor
// knows besides (who has which coins, which coupons a round has) follows once the
// submission has succeeded; see absorb.
type execution struct {
	*submitter
	core
	bank         *bank
	payments     *payments
	rounds       *rounds
	rewards      *trafficRewards
	ans          *ansState
	apps         *apps
	fund         *fund
	tokens       *tokens
	preapprovals *preapprovals
	validators   *validators
	submission   *Submission
	actAs        []party
	sees         []party // actAs and readAs
	disclosed    map[uint64]bool
	// authority are those who authorize what happens below the node in work: the
	// signatories of its contract and its actors.
	authority []party
	attempt   *attempt
	used      []uint64 // contracts that were there before, in order of first use
}

// savepoint is a state to return to.
type savepoint struct {
	effects, nodes, used                int
	supply                              supply
	contractNumber, created, privateNum uint64
	reserved                            uint64
	provider                            party
}

func (e *execution) savepoint() savepoint {
	return savepoint{effects: len(e.attempt.effects), nodes: len(e.tx.current.nodes), used: len(e.used), supply: e.bank.supply,
		contractNumber: e.tx.contractNumber, created: e.tx.created, privateNum: e.tx.privateNumbers,
		reserved: e.attempt.reserved, provider: e.tx.provider}
}

// rollback undoes all since a savepoint.
func (e *execution) rollback(s savepoint) {
	undo := e.attempt.effects[s.effects:]
	e.tx.attempt = nil // what follows is no effect
	for _, f := range slices.Backward(undo) {
		if f.created {
			e.tx.deactivate(f.contract)
		} else {
			e.tx.activate(f.contract)
		}
	}
	e.tx.attempt = e.attempt
	e.attempt.effects, e.used = e.attempt.effects[:s.effects], e.used[:s.used]
	clear(e.tx.current.nodes[s.nodes:])
	e.tx.current.nodes = e.tx.current.nodes[:s.nodes]
	e.bank.supply, e.tx.contractNumber, e.tx.created, e.tx.privateNumbers = s.supply, s.contractNumber, s.created, s.privateNum
	e.attempt.reserved, e.tx.provider = s.reserved, s.provider
}

const (
	// submissionGap is the time, in µs, between two submissions when no clock goes on.
	submissionGap            = 10_000
	maxCommandsPerSubmission = 200
	maxNodes                 = 10_000
)

// submitter executes submissions.
type submitter struct {
	x       *executor
	reader  *arguments
	choices *choices
	done    map[uint64]bool // numbers of prepared submissions that were executed
}

func newSubmitter(x *executor) *submitter { return &submitter{x: x, done: map[uint64]bool{}} }

// begin begins an attempt at a submission, in an entry of its own.
func (s *submitter) begin(b *batch, sub *Submission, recordTime int64) *execution {
	x := s.x
	x.index()
	if s.reader == nil {
		s.reader, s.choices = newArguments(x.names), newChoices()
	}
	x.tx.batch = b
	x.tx.beginAt(recordTime)
	e := &execution{submitter: s, core: x.core, bank: x.bank,
		payments: x.payments, rounds: x.rounds, rewards: x.rewards, ans: x.ans, apps: x.apps, fund: x.fund, tokens: x.tokens,
		preapprovals: x.preapprovals, validators: x.validators, submission: sub, attempt: &attempt{reserved: sub.Reserved}}
	x.tx.attempt = e.attempt
	return e
}

// end ends an attempt.
func (s *submitter) end() { s.x.tx.attempt, s.x.rounds.priced = nil, nil }

// submit executes a submission into b as an entry of the history, at a record time after
// that of the last one. If it is refused nothing has changed. home is the participant that
// submits.
func (s *submitter) submit(b *batch, sub *Submission, recordTime int64, home int) (*update, []value, error) {
	x := s.x
	now, effective, random := x.clock.recordTime, x.clock.effectiveAt, *x.random
	e := s.begin(b, sub, recordTime)
	start := e.savepoint()
	results, err := e.run()
	if err == nil && x.tx.err != nil {
		err = x.tx.err
	}
	if err != nil {
		e.rollback(start)
		x.tx.abandon(now, effective)
		*x.random = random
	}
	s.end()
	if err != nil {
		return nil, nil, err
	}
	if sub.Reserved != 0 {
		s.done[sub.Reserved] = true
	}
	x.conclude(sub.CommandID, e.actAs, sub.External, home)
	return x.tx.current, results, x.tx.err
}

// rehearse executes a submission, has look see what it does, and takes it back.
func (s *submitter) rehearse(b *batch, sub *Submission, recordTime int64, look func(*execution)) error {
	x := s.x
	now, effective := x.clock.recordTime, x.clock.effectiveAt
	e := s.begin(b, sub, recordTime)
	start := e.savepoint()
	_, err := e.run()
	if err == nil {
		look(e)
	}
	e.rollback(start)
	x.tx.abandon(now, effective)
	s.end()
	return err
}

// run executes the commands and returns the result of each.
func (e *execution) run() ([]value, error) {
	if err := e.admit(); err != nil {
		return nil, err
	}
	results := make([]value, len(e.submission.Commands))
	for i := range e.submission.Commands {
		var err error
		if results[i], err = e.execute(&e.submission.Commands[i]); err != nil {
			return nil, err
		}
		if len(e.tx.current.nodes) > maxNodes {
			return nil, refuse(CodeInvalidArgument, "the transaction has more than %d nodes", maxNodes)
		}
	}
	return results, nil
}

// admit checks what a submission says of itself.
func (e *execution) admit() error {
	s := e.submission
	switch {
	case len(s.Commands) == 0:
		return refuse(CodeMissingField, "The submitted command is missing a mandatory field: commands")
	case len(s.Commands) > maxCommandsPerSubmission:
		return refuse(CodeInvalidArgument, "a submission has at most %d commands, not %d", maxCommandsPerSubmission, len(s.Commands))
	case len(s.ActAs) == 0:
		return refuse(CodeMissingField, "The submitted command is missing a mandatory field: act_as")
	case s.SynchronizerID != "" && s.SynchronizerID != e.names.synchronizers[0]:
		return refuse(CodeNotExecutable, "commands are executed on synchronizer %s, not %.255s", e.names.synchronizers[0], s.SynchronizerID)
	case !s.MaxRecordTime.IsZero() && e.clock.recordTime > s.MaxRecordTime.UnixMicro():
		return refuse(CodeNotExecutable, "record time %s is after the latest one allowed, %s",
			time.UnixMicro(e.clock.recordTime).UTC().Format(time.RFC3339Nano), s.MaxRecordTime.UTC().Format(time.RFC3339Nano))
	case e.done[s.Reserved] && s.Reserved != 0:
		return refuse(CodeDuplicateCommand, "the prepared transaction was executed before")
	}
	if at := s.MinLedgerTime.UnixMicro(); !s.MinLedgerTime.IsZero() && at > e.clock.effectiveAt {
		if at > e.clock.recordTime+maxLedgerTimeSkew {
			return refuse(CodeNotExecutable, "ledger time %s is too far ahead of record time", s.MinLedgerTime.UTC().Format(time.RFC3339Nano))
		}
		e.clock.effectiveAt, e.tx.current.effectiveAt = at, at
	}
	e.tx.current.workflow = s.WorkflowID
	var err error
	if e.actAs, err = e.parties(s.ActAs); err != nil {
		return err
	}
	if e.sees, err = e.parties(s.ReadAs); err != nil {
		return err
	}
	e.sees = append(e.sees, e.actAs...)
	return e.disclose()
}

// maxLedgerTimeSkew is how far, in µs, ledger time may be ahead of record time.
const maxLedgerTimeSkew = 60e6

func (e *execution) parties(ids []string) ([]party, error) {
	list := make([]party, len(ids))
	for i, id := range ids {
		p, ok := e.names.named(id)
		if !ok {
			return nil, refuse(CodeInvalidArgument, "the network knows no party %.255s", id).with("unknown_party", id)
		}
		list[i] = p
	}
	return list, nil
}

// disclose reads the disclosed contracts.
func (e *execution) disclose() error {
	if len(e.submission.Disclosed) == 0 {
		return nil
	}
	e.disclosed = map[uint64]bool{}
	for i, d := range e.submission.Disclosed {
		n, ok := e.names.ids.contractNumber(d.ContractID)
		if d.ContractID == "" {
			n, ok = e.names.ids.blobNumber(d.Blob)
		}
		if !ok || d.Blob != string(appendBlob(nil, &e.names.ids, n)) {
			return refuse(CodeInvalidArgument, "disclosed contract %d: the created event blob is not that of a contract %.150s", i, d.ContractID)
		}
		e.disclosed[n] = true
	}
	return nil
}

// execute executes one command as the parties of the submission.
func (e *execution) execute(c *Command) (value, error) {
	e.authority = e.actAs
	name, iface, err := e.templateNamed(c.TemplateID)
	if err != nil {
		return value{}, err
	}
	switch {
	case c.ContractID != "":
		return e.executeExercise(c, name, iface)
	case name == nil:
		return value{}, refuse(CodeInvalidArgument, "%s is an interface: only templates can be created", c.TemplateID)
	case c.CreateArguments == nil:
		return value{}, refuse(CodeMissingField, "The submitted command is missing a mandatory field: create_arguments")
	}
	created, err := e.executeCreate(name, c.CreateArguments)
	if err != nil || c.Choice == "" {
		return created, err
	}
	both := *c
	both.ContractID = string(e.names.ids.appendContractID(nil, uint64(created.num)))
	return e.executeExercise(&both, name, iface)
}

// templateNamed finds a template by its id, or else an interface.
func (e *execution) templateNamed(id string) (*template, interfaceName, error) {
	pkg, entity, ok := strings.Cut(id, ":")
	if !ok || strings.Count(entity, ":") != 1 {
		return nil, noInterface, refuse(CodeInvalidArgument, "%.255q is not PACKAGE:MODULE:ENTITY", id)
	}
	name, byName := strings.CutPrefix(pkg, "#")
	known := false
	for i, t := range templates {
		same := byName && t.pkg.name == name || !byName && slices.ContainsFunc(e.names.templateIDs[i][:], func(id string) bool {
			return id[:packageIDLength] == pkg
		})
		if known = known || same; same && t.name == entity {
			return t, noInterface, nil
		}
	}
	for i, own := range interfaceNames {
		same := byName && own[0] == name || !byName && strings.HasPrefix(e.names.interfaces[i], pkg+":")
		if known = known || same; same && own[1] == entity {
			return nil, interfaceName(i), nil
		}
	}
	if byName && !known {
		return nil, noInterface, refuse(CodePackageNotFound, "The package name %.255s is unknown", name)
	}
	r := refuse(CodeTemplateNotFound, "Templates or interfaces not found: %.255s", id)
	r.Resources = [][2]string{{"TEMPLATE_ID", id}}
	return nil, noInterface, r
}

func (e *execution) executeCreate(t *template, raw json.RawMessage) (value, error) {
	typ, read := values.Default().Template(t.pkg.name, t.name), e.choices.creations[t]
	if typ == nil || read == nil {
		return value{}, broken("contracts of %s are not created by commands here", t.name)
	}
	v, err := e.reader.read(e.tx.arena(), "createArguments", typ, raw)
	if err != nil {
		return value{}, err
	}
	p, err := read(e, argument{&v})
	if err != nil {
		return value{}, err
	}
	c, err := e.add(t, p)
	if err != nil {
		return value{}, err
	}
	return contractID(c.number), nil
}

// add creates a contract, for which its signatories must have given their authority.
func (e *execution) add(t *template, p payload) (*contract, error) {
	signatories, _ := p.stakeholders(nil, nil)
	if err := e.authorized(signatories, "creating a "+t.entity()); err != nil {
		return nil, err
	}
	if s, ok := p.(interface{ isPrivate() bool }); t.private || ok && s.isPrivate() {
		return e.tx.addPrivate(t, p), nil
	}
	return e.tx.create(t, p), nil
}

// authorized checks that all of some parties have given their authority.
func (e *execution) authorized(needed []party, what string) error {
	for _, p := range needed {
		if !slices.Contains(e.authority, p) {
			return refuse(codeAuthorization, "%s requires authorization from %s, which is missing", what, e.names.name(p)).
				with("error_id", "missing-authorization").with("missing_party", e.names.name(p))
		}
	}
	return nil
}

func (e *execution) executeExercise(c *Command, t *template, iface interfaceName) (value, error) {
	n, ok := e.names.ids.contractNumber(c.ContractID)
	if !ok {
		return value{}, contractNotFound(c.ContractID)
	}
	target, err := e.fetch(n)
	switch {
	case err != nil:
		return value{}, err
	case c.Choice == "":
		return value{}, refuse(CodeMissingField, "The submitted command is missing a mandatory field: choice")
	case t != nil && target.template != t:
		return value{}, refuse(CodeInvalidArgument, "contract %s is of template %s, not %s", c.ContractID, target.template.name, t.name)
	}
	rule, iface := e.ruleOf(target.template, c.Choice, iface)
	if rule == nil {
		return value{}, refuse(CodePreprocessing, "contract %s of %s has no choice %.100s that commands can exercise",
			c.ContractID, target.template.name, c.Choice)
	}
	typ := choiceArgument(target.template, iface, c.Choice)
	if typ == nil {
		return value{}, refuse(CodePreprocessing, "the argument of %.100s is not known", c.Choice)
	}
	raw := c.Argument
	if raw == nil {
		raw = json.RawMessage(`{}`)
	}
	v, err := e.reader.read(e.tx.arena(), "choiceArgument", typ, raw)
	if err != nil {
		return value{}, err
	}
	return e.exerciseRule(rule, target, c.Choice, iface, v)
}

func choiceArgument(t *template, iface interfaceName, choice string) *values.Type {
	name := ""
	if iface != noInterface {
		name = interfaceNames[iface][1]
	}
	return values.Default().ChoiceArgument(t.pkg.name, t.name, name, choice)
}

// ruleOf finds what a choice does. A choice of an interface is found without it, too.
func (e *execution) ruleOf(t *template, choice string, iface interfaceName) (*rule, interfaceName) {
	if choice == "Archive" && iface == noInterface {
		return e.choices.archival, noInterface
	}
	r := e.choices.rules[t][choice]
	if r == nil || iface != noInterface && r.through != iface {
		return nil, iface
	}
	return r, r.through
}

// perform exercises a choice that is part of another.
func (e *execution) perform(c *contract, choice string, arg value) (value, error) {
	r, iface := e.ruleOf(c.template, choice, noInterface)
	if r == nil {
		return value{}, broken("contract of %s has no choice %s", c.template.name, choice)
	}
	return e.exerciseRule(r, c, choice, iface, arg)
}

func (e *execution) exerciseRule(r *rule, c *contract, choice string, iface interfaceName, v value) (value, error) {
	arg := argument{&v}
	controllers := r.controllers(e, c, arg)
	if err := e.authorized(controllers, "exercising "+choice); err != nil {
		return value{}, err
	}
	outer := e.authority
	signatories, _ := c.payload.stakeholders(nil, nil)
	e.authority = append(signatories, controllers...)
	defer func() { e.authority = outer }()
	var at int
	if r.consuming {
		at = e.tx.consume(c, choice, v, controllers...)
	} else {
		at = e.tx.exercise(c, choice, v, controllers...)
	}
	if iface != noInterface {
		e.tx.through(at, iface)
	}
	result, err := r.run(e, c, arg)
	if err != nil {
		return value{}, err
	}
	e.tx.finish(at, result)
	return result, nil
}

// fetch returns an active contract that the submitters may use.
func (e *execution) fetch(n uint64) (*contract, error) {
	c := e.tx.byNumber[n]
	if c == nil || !e.visible(c) {
		return nil, contractNotFound(string(e.names.ids.appendContractID(nil, n)))
	}
	if c.entry != uint32(e.tx.current.number) && !slices.Contains(e.used, n) {
		e.used = append(e.used, n)
	}
	return c, nil
}

// fetchOf is fetch for a contract of a template.
func (e *execution) fetchOf(t *template, n uint64) (*contract, error) {
	c, err := e.fetch(n)
	if err == nil && c.template != t {
		err = refuse(CodeInvalidArgument, "contract %s is of template %s, not %s",
			e.names.ids.appendContractID(nil, n), c.template.name, t.name)
	}
	return c, err
}

// visible reports whether the submitters see a contract: as stakeholders, because it is
// disclosed to them, because the transaction created it, or because it only concerns the
// governance party, whose contracts every scan hands out.
func (e *execution) visible(c *contract) bool {
	if e.disclosed[c.number] || c.entry == uint32(e.tx.current.number) {
		return true
	}
	signatories, observers := c.payload.stakeholders(nil, nil)
	all := append(signatories, observers...)
	if slices.IndexFunc(all, func(p party) bool { return p != dso }) < 0 {
		return true
	}
	return slices.ContainsFunc(all, func(p party) bool { return slices.Contains(e.sees, p) })
}

// now is what contracts see as the time, µs.
func (e *execution) now() int64 { return e.clock.effectiveAt }

// at has amounts priced by a round until the returned function is called.
func (e *execution) at(r *round) func() {
	outer := e.rounds.priced
	e.rounds.priced = r
	return func() { e.rounds.priced = outer }
}
