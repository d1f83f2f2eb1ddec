package choices

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Execution is a submission in execution. Contracts are created and archived at once, as
// by all else on the ledger, and taken back if the submission is refused. What the executor
// knows besides (who has which coins, which coupons a round has) follows once the
// submission has succeeded; see absorb.
type Execution struct {
	*Submitter
	*sim.Executor
	submission *Submission
	actAs      []model.Party
	sees       []model.Party // actAs and readAs
	disclosed  map[uint64]bool
	// authority are those who authorize what happens below the node in work: the
	// signatories of its contract and its actors.
	authority []model.Party
	Attempt   *sim.Attempt
	Used      []*model.Contract // those that were there before, in order of first use
}

// savepoint is a state to return to.
type savepoint struct {
	effects, nodes, used                int
	supply                              sim.CoinSupply
	contractNumber, created, privateNum uint64
	reserved                            uint64
	provider                            model.Party
}

func (e *Execution) savepoint() savepoint {
	return savepoint{effects: len(e.Attempt.Effects), nodes: len(e.Tx.Current.Nodes), used: len(e.Used), supply: e.Bank.Supply,
		contractNumber: e.Tx.ContractNumber, created: e.Tx.Created, privateNum: e.Tx.PrivateNumbers,
		reserved: e.Attempt.Reserved, provider: e.Tx.Provider}
}

// rollback undoes all since a savepoint.
func (e *Execution) rollback(s savepoint) {
	undo := e.Attempt.Effects[s.effects:]
	e.Tx.Attempt = nil // what follows is no effect
	for _, f := range slices.Backward(undo) {
		if f.Created {
			e.Tx.Deactivate(f.Contract)
		} else {
			e.Tx.Activate(f.Contract)
		}
	}
	e.Tx.Attempt = e.Attempt
	e.Attempt.Effects, e.Used = e.Attempt.Effects[:s.effects], e.Used[:s.used]
	clear(e.Tx.Current.Nodes[s.nodes:])
	e.Tx.Current.Nodes = e.Tx.Current.Nodes[:s.nodes]
	e.Bank.Supply, e.Tx.ContractNumber, e.Tx.Created, e.Tx.PrivateNumbers = s.supply, s.contractNumber, s.created, s.privateNum
	e.Attempt.Reserved, e.Tx.Provider = s.reserved, s.provider
}

const (
	// SubmissionGap is the time, in µs, between two submissions when no clock goes on.
	SubmissionGap            = 10_000
	maxCommandsPerSubmission = 200
	MaxNodes                 = 10_000
)

// Submitter executes submissions.
type Submitter struct {
	X       *sim.Executor
	reader  *arguments
	choices *choices
	done    map[uint64]bool // numbers of prepared submissions that were executed
}

// NewSubmitter returns a submitter for an executor; an executor has one.
func NewSubmitter(x *sim.Executor) *Submitter { return &Submitter{X: x, done: map[uint64]bool{}} }

// begin begins an attempt at a submission, in an entry of its own.
func (s *Submitter) begin(b *sim.Batch, sub *Submission, recordTime int64) *Execution {
	x := s.X
	x.Index()
	if s.reader == nil {
		s.reader, s.choices = newArguments(x.Names), newChoices()
	}
	x.Tx.Batch = b
	x.Tx.BeginAt(recordTime)
	e := &Execution{Submitter: s, Executor: x, submission: sub, Attempt: &sim.Attempt{Reserved: sub.Reserved}}
	x.Tx.Attempt = e.Attempt
	return e
}

// end ends an attempt.
func (s *Submitter) end() { s.X.Tx.Attempt, s.X.Rounds.Priced = nil, nil }

// Submit executes a submission into b as an entry of the history, at a record time after
// that of the last one. If it is refused nothing has changed. home is the participant that
// submits.
func (s *Submitter) Submit(b *sim.Batch, sub *Submission, recordTime int64, home int) (*sim.Update, []model.Value, error) {
	x := s.X
	now, effective, random := x.Clock.RecordTime, x.Clock.EffectiveAt, *x.Random
	e := s.begin(b, sub, recordTime)
	start := e.savepoint()
	results, err := e.run()
	if err == nil {
		err = x.Tx.Err
	}
	if err != nil {
		e.rollback(start)
		x.Tx.Abandon(now, effective)
		*x.Random = random
	}
	s.end()
	if err != nil {
		return nil, nil, err
	}
	if sub.Reserved != 0 {
		s.done[sub.Reserved] = true
	}
	x.Conclude(sub.CommandID, e.actAs, sub.External, home)
	return x.Tx.Current, results, x.Tx.Err
}

// Rehearse executes a submission, has look see what it does, and takes it back.
func (s *Submitter) Rehearse(b *sim.Batch, sub *Submission, recordTime int64, look func(*Execution)) error {
	x := s.X
	now, effective := x.Clock.RecordTime, x.Clock.EffectiveAt
	e := s.begin(b, sub, recordTime)
	start := e.savepoint()
	_, err := e.run()
	if err == nil {
		look(e)
	}
	e.rollback(start)
	x.Tx.Abandon(now, effective)
	s.end()
	return err
}

// run executes the commands and returns the result of each. The error is a *Refusal.
func (e *Execution) run() ([]model.Value, error) {
	results := make([]model.Value, len(e.submission.Commands))
	refusal := attempt(func() {
		e.admit()
		for i := range results {
			results[i] = e.execute(&e.submission.Commands[i])
			if len(e.Tx.Current.Nodes) > MaxNodes {
				panic(Refuse(CodeInvalidArgument, "the transaction has more than %d nodes", MaxNodes))
			}
		}
	})
	if refusal != nil {
		return nil, refusal
	}
	return results, nil
}

// admit checks what a submission says of itself.
func (e *Execution) admit() {
	s := e.submission
	switch {
	case len(s.Commands) == 0:
		panic(Refuse(CodeMissingField, "The submitted command is missing a mandatory field: commands"))
	case len(s.Commands) > maxCommandsPerSubmission:
		panic(Refuse(CodeInvalidArgument, "a submission has at most %d commands, not %d", maxCommandsPerSubmission, len(s.Commands)))
	case len(s.ActAs) == 0:
		panic(Refuse(CodeMissingField, "The submitted command is missing a mandatory field: act_as"))
	case s.SynchronizerID != "" && s.SynchronizerID != e.Names.Synchronizers[0]:
		panic(Refuse(CodeNotExecutable, "commands are executed on synchronizer %s, not %.255s", e.Names.Synchronizers[0], s.SynchronizerID))
	case !s.MaxRecordTime.IsZero() && e.Clock.RecordTime > s.MaxRecordTime.UnixMicro():
		panic(Refuse(CodeNotExecutable, "record time %s is after the latest one allowed, %s",
			time.UnixMicro(e.Clock.RecordTime).UTC().Format(time.RFC3339Nano), s.MaxRecordTime.UTC().Format(time.RFC3339Nano)))
	case e.done[s.Reserved] && s.Reserved != 0:
		panic(Refuse(CodeDuplicateCommand, "the prepared transaction was executed before"))
	}
	if at := s.MinLedgerTime.UnixMicro(); !s.MinLedgerTime.IsZero() && at > e.Clock.EffectiveAt {
		if at > e.Clock.RecordTime+maxLedgerTimeSkew {
			panic(Refuse(CodeNotExecutable, "ledger time %s is too far ahead of record time", s.MinLedgerTime.UTC().Format(time.RFC3339Nano)))
		}
		e.Clock.EffectiveAt, e.Tx.Current.EffectiveAt = at, at
	}
	e.Tx.Current.Workflow = s.WorkflowID
	e.actAs = e.parties(s.ActAs)
	e.sees = append(e.parties(s.ReadAs), e.actAs...)
	e.disclose()
}

// maxLedgerTimeSkew is how far, in µs, ledger time may be ahead of record time.
const maxLedgerTimeSkew = 60e6

func (e *Execution) parties(ids []string) []model.Party {
	list := make([]model.Party, len(ids))
	for i, id := range ids {
		p, ok := e.Names.Named(id)
		if !ok {
			panic(Refuse(CodeInvalidArgument, "the network does not know party %.255s", id).with("unknown_party", id))
		}
		list[i] = p
	}
	return list
}

// disclose reads the disclosed contracts.
func (e *Execution) disclose() {
	if len(e.submission.Disclosed) == 0 {
		return
	}
	e.disclosed = map[uint64]bool{}
	for i, d := range e.submission.Disclosed {
		n, ok := e.Names.IDs.ContractNumber(d.ContractID)
		if d.ContractID == "" {
			n, ok = e.Names.IDs.BlobNumber(d.Blob)
		}
		if !ok || d.Blob != string(model.AppendBlob(nil, &e.Names.IDs, n)) {
			panic(Refuse(CodeInvalidArgument, "disclosed contract %d: the created event blob is not that of a contract %.150s", i, d.ContractID))
		}
		e.disclosed[n] = true
	}
}

// execute executes one command as the parties of the submission.
func (e *Execution) execute(c *Command) model.Value {
	e.authority = e.actAs
	name, iface := e.templateNamed(c.TemplateID)
	switch {
	case c.ContractID != "":
		return e.executeExercise(c, name, iface)
	case name == nil:
		panic(Refuse(CodeInvalidArgument, "%s is an interface: only templates can be created", c.TemplateID))
	case c.CreateArguments == nil:
		panic(Refuse(CodeMissingField, "The submitted command is missing a mandatory field: create_arguments"))
	}
	created := e.executeCreate(name, c.CreateArguments)
	if c.Choice == "" {
		return created
	}
	both := *c
	both.ContractID = string(e.Names.IDs.AppendContractID(nil, uint64(created.Num)))
	return e.executeExercise(&both, name, iface)
}

// templateNamed finds a template by its id, or else an interface.
func (e *Execution) templateNamed(id string) (*model.Template, model.InterfaceName) {
	pkg, entity, ok := strings.Cut(id, ":")
	if !ok || strings.Count(entity, ":") != 1 {
		panic(Refuse(CodeInvalidArgument, "%.255q is not PACKAGE:MODULE:ENTITY", id))
	}
	name, byName := strings.CutPrefix(pkg, "#")
	known := false
	for i, t := range model.Templates {
		same := byName && t.Pkg.Name == name || !byName && slices.ContainsFunc(e.Names.TemplateIDs[i][:], func(id string) bool {
			return id[:model.PackageIDLength] == pkg
		})
		if known = known || same; same && t.Name == entity {
			return t, model.NoInterface
		}
	}
	for i, own := range model.InterfaceNames {
		same := byName && own[0] == name || !byName && strings.HasPrefix(e.Names.Interfaces[i], pkg+":")
		if known = known || same; same && own[1] == entity {
			return nil, model.InterfaceName(i)
		}
	}
	if byName && !known {
		panic(Refuse(CodePackageNotFound, "The package name %.255s is unknown", name))
	}
	r := Refuse(CodeTemplateNotFound, "Templates or interfaces not found: %.255s", id)
	r.Resources = [][2]string{{"TEMPLATE_ID", id}}
	panic(r)
}

func (e *Execution) executeCreate(t *model.Template, raw json.RawMessage) model.Value {
	typ, read := catalog().Template(t.Pkg.Name, t.Name), e.choices.creations[t]
	require(typ != nil && read != nil, "commands cannot create contracts of %s here", t.Name)
	v := e.reader.read(e.Tx.Arena(), "createArguments", typ, raw)
	return model.ContractID(e.add(t, read(e, model.Argument{V: &v})).Number)
}

// add creates a contract, for which its signatories must have given their authority.
func (e *Execution) add(t *model.Template, p model.Payload) *model.Contract {
	signatories, _ := p.Stakeholders(nil, nil)
	e.authorized(signatories, "creating a "+t.Entity())
	if s, ok := p.(interface{ IsPrivate() bool }); t.Private || ok && s.IsPrivate() {
		return e.Tx.AddPrivate(t, p)
	}
	return e.Tx.Create(t, p)
}

// addTo is add for a choice whose result is a record of the contract's id alone.
func (e *Execution) addTo(s *model.Shape, t *model.Template, p model.Payload) model.Value {
	return e.Tx.Arena().Record(s, model.ContractID(e.add(t, p).Number))
}

// authorized checks that all of some parties have given their authority.
func (e *Execution) authorized(needed []model.Party, what string) {
	for _, p := range needed {
		if !slices.Contains(e.authority, p) {
			panic(Refuse(codeAuthorization, "%s requires authorization from %s, which is missing", what, e.Names.Name(p)).
				with("error_id", "missing-authorization").with("missing_party", e.Names.Name(p)))
		}
	}
}

func (e *Execution) executeExercise(c *Command, t *model.Template, iface model.InterfaceName) model.Value {
	n, ok := e.Names.IDs.ContractNumber(c.ContractID)
	if !ok {
		panic(contractNotFound(c.ContractID))
	}
	target := e.fetch(n)
	switch {
	case c.Choice == "":
		panic(Refuse(CodeMissingField, "The submitted command is missing a mandatory field: choice"))
	case t != nil && target.Template != t:
		panic(Refuse(CodeInvalidArgument, "contract %s is of template %s, not %s", c.ContractID, target.Template.Name, t.Name))
	}
	rule, iface := e.ruleOf(target.Template, c.Choice, iface)
	if rule == nil {
		panic(Refuse(CodePreprocessing, "contract %s of %s has no choice %.100s that commands can exercise",
			c.ContractID, target.Template.Name, c.Choice))
	}
	typ := choiceArgument(target.Template, iface, c.Choice)
	if typ == nil {
		panic(Refuse(CodePreprocessing, "the argument of %.100s is not known", c.Choice))
	}
	raw := c.Argument
	if raw == nil {
		raw = json.RawMessage(`{}`)
	}
	v := e.reader.read(e.Tx.Arena(), "choiceArgument", typ, raw)
	return e.exerciseRule(rule, target, c.Choice, iface, v)
}

func choiceArgument(t *model.Template, iface model.InterfaceName, choice string) *values.Type {
	name := ""
	if iface != model.NoInterface {
		name = model.InterfaceNames[iface][1]
	}
	return catalog().ChoiceArgument(t.Pkg.Name, t.Name, name, choice)
}

// ruleOf finds what a choice does. A choice of an interface is found without it, too: of several
// versions it is that of the first.
func (e *Execution) ruleOf(t *model.Template, choice string, iface model.InterfaceName) (*rule, model.InterfaceName) {
	if choice == "Archive" && iface == model.NoInterface {
		return e.choices.archival, model.NoInterface
	}
	for _, r := range e.choices.rules[t][choice] {
		if iface == model.NoInterface || r.through == iface {
			return r, r.through
		}
	}
	return nil, iface
}

// perform exercises a choice that is part of another.
func (e *Execution) perform(c *model.Contract, choice string, arg model.Value) model.Value {
	return e.performOf(model.NoInterface, c, choice, arg)
}

// performOf is perform for a choice of an interface.
func (e *Execution) performOf(of model.InterfaceName, c *model.Contract, choice string, arg model.Value) model.Value {
	r, iface := e.ruleOf(c.Template, choice, of)
	require(r != nil, "contract of %s has no choice %s", c.Template.Name, choice)
	return e.exerciseRule(r, c, choice, iface, arg)
}

func (e *Execution) exerciseRule(r *rule, c *model.Contract, choice string, iface model.InterfaceName, v model.Value) model.Value {
	arg := model.Argument{V: &v}
	controllers := r.controllers(e, c, arg)
	e.authorized(controllers, "exercising "+choice)
	outer := e.authority
	signatories, _ := c.Payload.Stakeholders(nil, nil)
	e.authority = append(signatories, controllers...)
	defer func() { e.authority = outer }()
	var at int
	if r.consuming {
		at = e.Tx.Consume(c, choice, v, controllers...)
	} else {
		at = e.Tx.Exercise(c, choice, v, controllers...)
	}
	if iface != model.NoInterface {
		e.Tx.Through(at, iface)
	}
	if r.observers != nil {
		e.Tx.Current.Nodes[at].Observers = r.observers(e, c, arg)
	}
	result := r.run(e, c, arg)
	e.Tx.Finish(at, result)
	return result
}

// fetch returns an active contract that the submitters may use.
func (e *Execution) fetch(n uint64) *model.Contract {
	c := e.Tx.ByNumber[n]
	if c == nil || !e.visible(c) {
		panic(contractNotFound(string(e.Names.IDs.AppendContractID(nil, n))))
	}
	if c.Entry != uint32(e.Tx.Current.Number) && !slices.Contains(e.Used, c) {
		e.Used = append(e.Used, c)
	}
	return c
}

// fetchOf is fetch for a contract of a template.
func (e *Execution) fetchOf(t *model.Template, n uint64) *model.Contract {
	c := e.fetch(n)
	if c.Template != t {
		panic(Refuse(CodeInvalidArgument, "contract %s is of template %s, not %s",
			e.Names.IDs.AppendContractID(nil, n), c.Template.Name, t.Name))
	}
	return c
}

// visible reports whether the submitters see a contract: as stakeholders, because it is
// disclosed to them, because the transaction created it, or because it only concerns the
// governance party, whose contracts every scan hands out.
func (e *Execution) visible(c *model.Contract) bool {
	if e.disclosed[c.Number] || c.Entry == uint32(e.Tx.Current.Number) {
		return true
	}
	signatories, observers := c.Payload.Stakeholders(nil, nil)
	all := append(signatories, observers...)
	if slices.IndexFunc(all, func(p model.Party) bool { return p != model.Dso }) < 0 {
		return true
	}
	return slices.ContainsFunc(all, func(p model.Party) bool { return slices.Contains(e.sees, p) })
}

// Now is what contracts see as the time, µs.
func (e *Execution) Now() int64 { return e.Clock.EffectiveAt }

// at has amounts priced by a round until the returned function is called.
func (e *Execution) at(r *model.Round) func() {
	outer := e.Rounds.Priced
	e.Rounds.Priced = r
	return func() { e.Rounds.Priced = outer }
}
