package nodeapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// wireCommands are commands as requests have them: JsCommands.
type wireCommands struct {
	Commands       []map[string]choices.Command `json:"commands"`
	CommandID      *string                      `json:"commandId"`
	ActAs          []string                     `json:"actAs"`
	UserID         string                       `json:"userId"`
	ReadAs         []string                     `json:"readAs"`
	WorkflowID     string                       `json:"workflowId"`
	SubmissionID   string                       `json:"submissionId"`
	Period         wirePeriod                   `json:"deduplicationPeriod"`
	MinTimeAbs     *string                      `json:"minLedgerTimeAbs"`
	MinTimeRel     *wireDuration                `json:"minLedgerTimeRel"`
	Disclosed      []choices.DisclosedContract  `json:"disclosedContracts"`
	SynchronizerID string                       `json:"synchronizerId"`
	Packages       []string                     `json:"packageIdSelectionPreference"`
}

// maxLedgerString bounds command, submission and workflow ids.
const maxLedgerString = 255

var ledgerStringForm = regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9._:\-#/ ]{1,%d}$`, maxLedgerString))

// commandRequest is a decoded and checked request to execute commands.
type commandRequest struct {
	choices.Submission
	submissionID string
	period       DeduplicationPeriod
	signed       string // hash that the parties signed, "" for others
}

func (o *commandRequest) change() Change { return NewChange(o.UserID, o.ActAs, o.CommandID) }

// commandRequest decodes commands of a user. What needs no knowledge of contracts is checked here,
// the rest by the ledger.
func (n *commandServer) commandRequest(who principal, q *wireCommands) (commandRequest, error) {
	o := commandRequest{submissionID: q.SubmissionID}
	if q.Commands == nil || q.CommandID == nil || q.ActAs == nil {
		return o, reply.BadRequest("invalid body: commands, commandId and actAs are required")
	}
	user, err := who.userFor(q.UserID)
	if err != nil {
		return o, err
	}
	o.Submission = choices.Submission{UserID: user, CommandID: *q.CommandID, WorkflowID: q.WorkflowID,
		ActAs: q.ActAs, ReadAs: q.ReadAs, SynchronizerID: q.SynchronizerID}
	if err := q.checkIDs(); err != nil {
		return o, err
	}
	if err := n.checkParties(q); err != nil {
		return o, err
	}
	if o.Commands, err = n.commands(q.Commands); err != nil {
		return o, err
	}
	for _, d := range q.Disclosed {
		if d.Blob == "" {
			return o, missingField("created_event_blob")
		}
	}
	o.Disclosed = q.Disclosed
	if err := n.checkPackages(q.Packages); err != nil {
		return o, err
	}
	if o.MinLedgerTime, err = n.minLedgerTime(q.MinTimeAbs, q.MinTimeRel); err != nil {
		return o, err
	}
	o.period, err = q.Period.decode(n.reads.currentEnd())
	return o, err
}

func (q *wireCommands) checkIDs() error {
	if *q.CommandID == "" {
		return missingField("command_id")
	}
	for field, text := range map[string]string{"command_id": *q.CommandID, "submission_id": q.SubmissionID, "workflow_id": q.WorkflowID} {
		if text != "" && !ledgerStringForm.MatchString(text) {
			return invalidField(field, "%q is not an identifier of at most %d characters", text, maxLedgerString)
		}
	}
	return nil
}

// checkParties verifies that the node can submit for each party to act as. A party that
// signs for itself takes the interactive way.
func (n *commandServer) checkParties(q *wireCommands) error {
	if len(q.ActAs) == 0 {
		return missingField("act_as")
	}
	for _, name := range slices.Concat(q.ActAs, q.ReadAs) {
		if err := checkPartyID("party", name); err != nil {
			return err
		}
	}
	if s := q.SynchronizerID; s != "" && !slices.Contains(n.view.Names.Synchronizers, s) {
		return invalidArgument("this participant is not connected to synchronizer %q", s)
	}
	for _, name := range q.ActAs {
		if !n.hosting.hostsParty(name) {
			return cannotSubmitFor(name)
		}
	}
	return nil
}

func cannotSubmitFor(party string) error {
	e := nodeRefusal("NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT",
		"This participant cannot submit as the given submitter on any connected synchronizer: %s", party)
	e.Resources = append(e.Resources, [2]string{"PARTY", party})
	return e
}

// checkSubmitters refuses parties that sign for themselves.
func (n *commandServer) checkSubmitters(actAs []string) error {
	for _, name := range actAs {
		if p, ok := n.view.Names.Named(name); ok && n.view.Names.IsExternal(p) {
			return cannotSubmitFor(name)
		}
	}
	return nil
}

// commands decodes the commands of a submission.
func (n *commandServer) commands(list []map[string]choices.Command) ([]choices.Command, error) {
	if len(list) == 0 {
		return nil, missingField("commands")
	}
	commands := make([]choices.Command, 0, len(list))
	for _, w := range list {
		if len(w) != 1 {
			return nil, reply.BadRequest("invalid body: a command has %d members, want one", len(w))
		}
		for kind, content := range w {
			c, err := commandOf(kind, &content)
			if err != nil {
				return nil, err
			}
			if err := n.formats.checkIdentifier(c.TemplateID); err != nil {
				return nil, err
			}
			commands = append(commands, c)
		}
	}
	return commands, nil
}

// commandOf returns a command of a kind, without the members of others, if it has its own.
func commandOf(kind string, w *choices.Command) (choices.Command, error) {
	var c choices.Command
	creates, exercises := false, false
	switch kind {
	case "CreateCommand":
		creates = true
	case "ExerciseCommand":
		exercises = true
		if c.ContractID = w.ContractID; c.ContractID == "" {
			return c, missingField("contract_id")
		}
	case "CreateAndExerciseCommand":
		creates, exercises = true, true
	case "ExerciseByKeyCommand":
		return c, nodeRefusal("COMMAND_PREPROCESSING_FAILED", "template %s has no contract key", w.TemplateID)
	default:
		return c, reply.BadRequest("invalid body: command %q is unknown", kind)
	}
	if c.TemplateID = w.TemplateID; c.TemplateID == "" {
		return c, missingField("template_id")
	}
	if creates {
		if c.CreateArguments = w.CreateArguments; !hasValue(c.CreateArguments) {
			return c, missingField("create_arguments")
		}
	}
	if exercises {
		if c.Choice = w.Choice; c.Choice == "" {
			return c, missingField("choice")
		}
		if c.Argument = w.Argument; !hasValue(c.Argument) {
			return c, missingField("choice_argument")
		}
	}
	return c, nil
}

// hasValue reports whether a member is there and not null.
func hasValue(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(bytes.TrimSpace(raw), []byte("null"))
}

// checkPackages refuses packages that the node does not have.
func (n *commandServer) checkPackages(ids []string) error {
	for _, id := range ids {
		if !n.formats.packages[id] {
			return nodeRefusal("JSON_API_PACKAGE_SELECTION_FAILED", "package %q is not known to this participant", id)
		}
	}
	return nil
}

// minLedgerTime returns the time that was asked for, zero without.
func (n *commandServer) minLedgerTime(abs *string, rel *wireDuration) (t time.Time, err error) {
	switch {
	case abs != nil && rel != nil:
		return t, invalidArgument("min_ledger_time_abs cannot be specified when min_ledger_time_rel is")
	case abs != nil:
		micros, err := schemas.ParseTime(*abs)
		if err != nil {
			return t, reply.BadRequest("invalid body: minLedgerTimeAbs: %v", err)
		}
		return time.UnixMicro(int64(micros)).UTC(), nil
	case rel != nil:
		d, err := rel.duration()
		if err != nil {
			return t, invalidField("min_ledger_time_rel", "%v", err)
		}
		return n.ledger.Now().Add(d), nil
	}
	return t, nil
}

// checkIdentifier verifies that a template or an interface of that name is known.
func (f *formats) checkIdentifier(id string) error {
	_, err := f.template(id)
	if err != nil {
		if _, none := f.iface(id); none == nil {
			return nil
		}
	}
	return err
}
