package nodeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/prepared"
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
	message, err := n.ledger.Prepare(r.Context(), o.Submission)
	if err != nil {
		return nil, asNodeError(err)
	}
	answer, err := n.preparedAnswer(message, scheme, q.Verbose)
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

func (n *commandServer) preparedAnswer(message []byte, scheme hashingScheme, verbose bool) (WirePrepared, error) {
	t, err := prepared.Decode(message)
	if err != nil {
		return WirePrepared{}, fmt.Errorf("reading what was prepared: %w", err)
	}
	hash := t.Hash(scheme.version)
	answer := WirePrepared{Transaction: message, Hash: hash.Signed, Scheme: scheme.name}
	if verbose {
		details := fmt.Sprintf("hash of transaction %x\nhash of metadata %x\nhashing scheme %02x\nhash %x\n",
			hash.Transaction, hash.Metadata, scheme.version, hash.Signed)
		answer.Details = &details
	}
	request := int64(sim.EnvelopeOverhead + len(message))
	answer.Cost = &wireCostEstimate{At: string(schemas.AppendShortTime(nil, schemas.Micros(t.PreparedAt().UnixMicro()))),
		Request: request, Response: confirmationCost, Total: request + confirmationCost}
	return answer, nil
}

// hashingScheme is a version of how prepared transactions are hashed.
type hashingScheme struct {
	name    string
	version prepared.Scheme
}

var hashingSchemes = []hashingScheme{{"HASHING_SCHEME_VERSION_V2", prepared.V2}, {"HASHING_SCHEME_VERSION_V3", prepared.V3}}

// schemeNamed returns a scheme; none is V2.
func schemeNamed(name string) (hashingScheme, error) {
	if name == "" {
		return hashingSchemes[0], nil
	}
	for _, s := range hashingSchemes {
		if s.name == name {
			return s, nil
		}
	}
	return hashingScheme{}, invalidField("hashing_scheme_version", "%q is not one of this node", name)
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
	t, err := decodePrepared(q.Prepared)
	if err != nil {
		return done, nil, err
	}
	o, err := n.signedRequest(ctx, q, t)
	if err != nil {
		return done, nil, err
	}
	if wantsFormat {
		if f, err = n.reads.transactionFormat(ctx, q.Format, o.ActAs, o.ReadAs); err != nil {
			return done, nil, err
		}
	}
	if err := n.stillPrepared(ctx, o.Submission, t); err != nil {
		return done, nil, err
	}
	done, err = n.execute(ctx, o)
	return done, f, err
}

func decodePrepared(message []byte) (*prepared.Transaction, error) {
	if len(message) == 0 {
		return nil, missingField("prepared_transaction")
	}
	t, err := prepared.Decode(message)
	if err != nil {
		return nil, invalidArgument("prepared_transaction: %v", err)
	}
	return t, nil
}

// signedRequest checks the signatures of a prepared transaction. It returns what is to be
// executed.
func (n *commandServer) signedRequest(ctx context.Context, q *wireExecute, t *prepared.Transaction) (o commandRequest, err error) {
	o.submissionID = q.SubmissionID
	if o.Submission, err = t.Submission(n.ledger.Names); err != nil {
		return o, invalidArgument("prepared_transaction: %v", err)
	}
	who := principalOf(ctx)
	if o.UserID, err = who.userFor(q.UserID); err != nil {
		return o, err
	}
	if o.submissionID == "" {
		return o, missingField("submission_id")
	}
	if err := who.mayExecuteAs(o.ActAs); err != nil {
		return o, err
	}
	scheme, err := schemeNamed(q.Scheme)
	if err != nil {
		return o, err
	}
	hash := t.Hash(scheme.version).Signed
	if err := n.checkSignatures(q.Signatures.Parties, o.ActAs, hash); err != nil {
		return o, err
	}
	if !ledger.HasPrepared(n.ledger, o.Reserved) {
		return o, invalidArgument("prepared_transaction: this participant has not prepared it")
	}
	o.signed = string(hash)
	if err := n.completions.checkSigned(o.signed); err != nil {
		return o, err
	}
	if now := n.ledger.Now(); now.After(t.PreparedAt().Add(PreparedLife)) {
		return o, nodeRefusal("FAILED_TO_EXECUTE_TRANSACTION", "The transaction was prepared at %s, too long before %s",
			t.PreparedAt().Format(time.RFC3339), now.Format(time.RFC3339))
	}
	if o.MinLedgerTime, err = n.laterOf(o.MinLedgerTime, q.MinTime); err != nil {
		return o, err
	}
	o.period, err = q.Period.decode(n.reads.currentEnd())
	return o, err
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
func (n *commandServer) stillPrepared(ctx context.Context, s choices.Submission, signed *prepared.Transaction) error {
	message, err := n.ledger.Prepare(ctx, s)
	if err != nil {
		return asNodeError(err)
	}
	again, err := prepared.Decode(message)
	if err != nil {
		return fmt.Errorf("reading what was prepared: %w", err)
	}
	if !signed.Same(again) {
		return nodeRefusal("FAILED_TO_EXECUTE_TRANSACTION", "The ledger has changed since the transaction was prepared: it would now do something else")
	}
	return nil
}
