package nodeapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// PreparedLife is how long after its preparation a transaction may be executed.
const PreparedLife = 24 * time.Hour

// wirePrepare is a request to prepare commands: JsPrepareSubmissionRequest.
type wirePrepare struct {
	wireCommands
	MinTime       *wireMinTime `json:"minLedgerTime"`
	MaxRecordTime *string      `json:"maxRecordTime"`
	Verbose       bool         `json:"verboseHashing"`
	Scheme        string       `json:"hashingSchemeVersion"`
	Cost          *struct {
		Disabled bool `json:"disabled"`
	} `json:"estimateTrafficCost"`
}

// wireMinTime is a least ledger time: {"time":{KIND:{"value":..}}}.
type wireMinTime struct {
	Time map[string]struct {
		Value json.RawMessage `json:"value"`
	} `json:"time"`
}

// decode returns the time in the two forms of commands, nil for none.
func (w *wireMinTime) decode() (abs *string, rel *wireDuration, err error) {
	if w == nil {
		return nil, nil, nil
	}
	if len(w.Time) > 1 {
		return nil, nil, reply.BadRequest("invalid body: minLedgerTime has %d members, want one", len(w.Time))
	}
	for kind, content := range w.Time {
		switch kind {
		case "Empty":
		case "MinLedgerTimeAbs":
			err = json.Unmarshal(content.Value, &abs)
		case "MinLedgerTimeRel":
			err = json.Unmarshal(content.Value, &rel)
		default:
			return nil, nil, reply.BadRequest("invalid body: minLedgerTime %q is unknown", kind)
		}
	}
	if err != nil {
		return nil, nil, reply.BadRequest("invalid body: minLedgerTime: %v", err)
	}
	return abs, rel, nil
}

// WirePrepared is the answer to wirePrepare.
type WirePrepared struct {
	Transaction []byte            `json:"preparedTransaction"`
	Hash        []byte            `json:"preparedTransactionHash"`
	Scheme      string            `json:"hashingSchemeVersion"`
	Details     *string           `json:"hashingDetails,omitempty"`
	Cost        *wireCostEstimate `json:"costEstimation,omitempty"`
}

// wireCostEstimate is what executing may cost, in bytes of traffic.
type wireCostEstimate struct {
	At       string `json:"estimationTimestamp"`
	Request  int64  `json:"confirmationRequestTrafficCostEstimation"`
	Response int64  `json:"confirmationResponseTrafficCostEstimation"`
	Total    int64  `json:"totalTrafficCostEstimation"`
}

// prepare answers with a transaction for its parties to sign.
func (n *commandServer) prepare(r *http.Request, q *wirePrepare) (any, error) {
	var err error
	if q.MinTimeAbs, q.MinTimeRel, err = q.MinTime.decode(); err != nil {
		return nil, err
	}
	who := principalOf(r.Context())
	o, err := n.commandRequest(who, &q.wireCommands)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(o.ActAs, o.ReadAs) {
		if err := who.mayReadAs(name); err != nil {
			return nil, err
		}
	}
	scheme, err := schemeNamed(q.Scheme)
	if err != nil {
		return nil, err
	}
	if o.MaxRecordTime, err = optionalTime("maxRecordTime", q.MaxRecordTime); err != nil {
		return nil, err
	}
	o.External = true
	prepared, err := n.ledger.Prepare(r.Context(), o.Submission)
	if err != nil {
		return nil, asNodeError(err)
	}
	answer, err := n.preparedAnswer(&prepared, scheme, q.Verbose)
	if err != nil {
		return nil, err
	}
	if q.Cost != nil && q.Cost.Disabled {
		answer.Cost = nil
	}
	return answer, nil
}

func optionalTime(field string, text *string) (t time.Time, err error) {
	if text == nil {
		return t, nil
	}
	micros, err := schemas.ParseTime(*text)
	if err != nil {
		return t, reply.BadRequest("invalid body: %s: %v", field, err)
	}
	return time.UnixMicro(int64(micros)).UTC(), nil
}

// confirmationCost is about what the answer to a request for confirmation takes, in bytes.
const confirmationCost = 1 << 10

func (n *commandServer) preparedAnswer(p *ledger.Prepared, scheme hashingScheme, verbose bool) (WirePrepared, error) {
	now := n.ledger.Now()
	t, err := NewPreparedTransaction(p, now)
	if err != nil {
		return WirePrepared{}, err
	}
	answer := WirePrepared{Transaction: t.Encode(), Hash: PreparedHash(scheme.mark, t.Transaction, t.Metadata), Scheme: scheme.name}
	if verbose {
		details := t.details(scheme)
		answer.Details = &details
	}
	request := int64(sim.EnvelopeOverhead + len(answer.Transaction))
	answer.Cost = &wireCostEstimate{At: string(schemas.AppendShortTime(nil, schemas.Micros(now.UnixMicro()))),
		Request: request, Response: confirmationCost, Total: request + confirmationCost}
	return answer, nil
}

// wireExecute is a request to execute what was prepared: JsExecuteSubmissionRequest.
type wireExecute struct {
	Prepared   []byte `json:"preparedTransaction"`
	Signatures struct {
		Parties []wirePartySignatures `json:"signatures"`
	} `json:"partySignatures"`
	SubmissionID string                 `json:"submissionId"`
	Scheme       string                 `json:"hashingSchemeVersion"`
	UserID       string                 `json:"userId"`
	Period       wirePeriod             `json:"deduplicationPeriod"`
	MinTime      *wireMinTime           `json:"minLedgerTime"`
	Format       *wireTransactionFormat `json:"transactionFormat"`
}

type wirePartySignatures struct {
	Party      string          `json:"party"`
	Signatures []wireSignature `json:"signatures"`
}

// executePrepared executes what was signed; what is refused is said at once.
func (n *commandServer) executePrepared(r *http.Request, q *wireExecute) (any, error) {
	_, _, err := n.executeSigned(r.Context(), q, false)
	return struct{}{}, err
}

func (n *commandServer) executePreparedAndWait(r *http.Request, q *wireExecute) (any, error) {
	done, _, err := n.executeSigned(r.Context(), q, false)
	return map[string]any{"updateId": done.UpdateID, "completionOffset": done.Offset}, err
}

func (n *commandServer) executePreparedForTransaction(r *http.Request, q *wireExecute) (any, error) {
	done, f, err := n.executeSigned(r.Context(), q, true)
	if err != nil {
		return nil, err
	}
	return n.reads.transaction(done, f)
}

// executeSigned executes a request; the format is decoded if it is wanted.
func (n *commandServer) executeSigned(ctx context.Context, q *wireExecute, wantsFormat bool) (done ledger.Committed, f *updateFormat, err error) {
	o, expected, err := n.signedRequest(ctx, q)
	if err != nil {
		return done, nil, err
	}
	if wantsFormat {
		if f, err = n.reads.transactionFormat(ctx, q.Format, o.ActAs, o.ReadAs); err != nil {
			return done, nil, err
		}
	}
	if err := n.stillPrepared(ctx, o.Submission, expected); err != nil {
		return done, nil, err
	}
	done, err = n.execute(ctx, o)
	return done, f, err
}

// signedRequest decodes a prepared transaction and checks the signatures. It returns what is
// to be executed and the transaction that this is to bring about.
func (n *commandServer) signedRequest(ctx context.Context, q *wireExecute) (o commandRequest, expected []byte, err error) {
	if len(q.Prepared) == 0 {
		return o, nil, missingField("prepared_transaction")
	}
	t, err := DecodePrepared(q.Prepared)
	if err != nil {
		return o, nil, invalidArgument("prepared_transaction: %v", err)
	}
	m, err := t.Content()
	if err == nil {
		expected, err = t.Tree()
	}
	if err != nil {
		return o, nil, invalidArgument("prepared_transaction: %v", err)
	}
	who := principalOf(ctx)
	o = commandRequest{Submission: m.Submission, submissionID: q.SubmissionID}
	if o.UserID, err = who.userFor(q.UserID); err != nil {
		return o, nil, err
	}
	if o.SynchronizerID = m.SynchronizerID; o.submissionID == "" {
		return o, nil, missingField("submission_id")
	}
	if err := who.mayExecuteAs(o.ActAs); err != nil {
		return o, nil, err
	}
	scheme, err := schemeNamed(q.Scheme)
	if err != nil {
		return o, nil, err
	}
	hash := PreparedHash(scheme.mark, t.Transaction, t.Metadata)
	if err := n.checkSignatures(q.Signatures.Parties, o.ActAs, hash); err != nil {
		return o, nil, err
	}
	if !ledger.HasPrepared(n.ledger, o.Reserved) {
		return o, nil, invalidArgument("prepared_transaction: this participant has not prepared it")
	}
	o.signed = string(hash)
	if err := n.completions.checkSigned(o.signed); err != nil {
		return o, nil, err
	}
	if now := n.ledger.Now(); now.After(m.PreparedAt.Add(PreparedLife)) {
		return o, nil, nodeRefusal("FAILED_TO_EXECUTE_TRANSACTION", "The transaction was prepared at %s, too long before %s",
			m.PreparedAt.Format(time.RFC3339), now.Format(time.RFC3339))
	}
	if o.MinLedgerTime, err = n.laterOf(o.MinLedgerTime, q.MinTime); err != nil {
		return o, nil, err
	}
	if o.period, err = q.Period.decode(n.reads.currentEnd()); err != nil {
		return o, nil, err
	}
	o.External = true
	return o, expected, nil
}

// laterOf returns the later of two least ledger times.
func (n *commandServer) laterOf(prepared time.Time, w *wireMinTime) (time.Time, error) {
	abs, rel, err := w.decode()
	if err != nil {
		return prepared, err
	}
	t, err := n.minLedgerTime(abs, rel)
	if err != nil || t.Before(prepared) {
		return prepared, err
	}
	return t, nil
}

// checkSignatures verifies that each party to act as has signed the hash, and nobody else.
func (n *commandServer) checkSignatures(list []wirePartySignatures, actAs []string, hash []byte) error {
	if len(list) == 0 {
		return missingField("party_signatures")
	}
	signed := map[string]bool{}
	for _, s := range list {
		if !slices.Contains(actAs, s.Party) {
			return invalidArgument("party %q is not one that the transaction acts as", s.Party)
		}
		if len(s.Signatures) == 0 {
			return missingField("signatures")
		}
		key, ok := n.parties.Key(s.Party)
		if !ok {
			return invalidArgument("party %q has no key known to this participant", s.Party)
		}
		if err := verifyAll(s.Signatures, key, hash); err != nil {
			return err
		}
		signed[s.Party] = true
	}
	for _, name := range actAs {
		if !signed[name] {
			return invalidArgument("the signature of party %q is missing", name)
		}
	}
	return nil
}

// stillPrepared verifies that executing a submission now brings about the transaction that
// was signed. Instants in it may be others: the time of the ledger has gone on.
func (n *commandServer) stillPrepared(ctx context.Context, s choices.Submission, signed []byte) error {
	again, err := n.ledger.Prepare(ctx, s)
	if err != nil {
		return asNodeError(err)
	}
	var was, is any
	if err := DecodeNumbers(signed, &was); err != nil {
		return invalidArgument("prepared_transaction: %v", err)
	}
	if err := DecodeNumbers(again.Transaction, &is); err != nil {
		return err
	}
	if !SameButTimes(was, is) {
		return nodeRefusal("FAILED_TO_EXECUTE_TRANSACTION", "The ledger has changed since the transaction was prepared: it would now do something else")
	}
	return nil
}

// DecodeNumbers decodes JSON, numbers as json.Number.
func DecodeNumbers(b []byte, v *any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(v)
}

// SameButTimes compares JSON values. Texts that are both instants count as equal.
func SameButTimes(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, value := range a {
			if other, ok := b[key]; !ok || !SameButTimes(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, SameButTimes)
	case string:
		b, ok := b.(string)
		return ok && (a == b || isInstant(a) && isInstant(b))
	}
	return a == b
}

func isInstant(text string) bool {
	_, err := time.Parse(time.RFC3339Nano, text)
	return err == nil
}
