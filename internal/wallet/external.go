package wallet

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// External sets up external parties, whose keys are not the node's, and sends their coins.
type External struct {
	*submitter
	tracking *tracker
	network  *Network
	coins    *Coins
	lifetime time.Duration // of a new preapproval
	// transferCommands allows the transfers by transfer commands.
	transferCommands bool
}

// TopologyTransaction is a topology transaction that an external party must sign.
type TopologyTransaction struct {
	Transaction []byte
	Hash        []byte // what is signed, with its multihash prefix
}

// SignedTopology is one that the party has signed.
type SignedTopology struct {
	Transaction []byte
	Signature   []byte // Ed25519, of the hash
}

// Purposes that hashes of the network begin with, so that one cannot be taken for another.
const (
	topologyPurpose = 11
	keyPurpose      = 12
)

// multihash is the SHA-256 multihash of a text with a purpose.
func multihash(purpose uint32, text []byte) []byte {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint32(nil, purpose))
	h.Write(text)
	return h.Sum([]byte{0x12, 0x20})
}

// fingerprint identifies a key, as in the ids of its parties.
func fingerprint(publicKey []byte) string {
	return hex.EncodeToString(multihash(keyPurpose, publicKey))
}

func checkKey(publicKey []byte) error {
	if len(publicKey) != ed25519.PublicKeySize {
		return invalid("public_key must have %d bytes, not %d", ed25519.PublicKeySize, len(publicKey))
	}
	return nil
}

// GenerateTopology returns the party that a key (Ed25519, 32 bytes) and a hint make, and the
// topology transactions that let this node host it.
func (w *External) GenerateTopology(ctx context.Context, hint string, publicKey []byte) (party string, txs []TopologyTransaction, err error) {
	if err := checkKey(publicKey); err != nil {
		return "", nil, err
	}
	synchronizer, err := w.synchronizer(ctx)
	if err != nil {
		return "", nil, err
	}
	topology, err := w.ledger.GenerateTopology(ctx, synchronizer, hint, publicKey)
	if err != nil {
		return "", nil, translate(err)
	}
	for _, tx := range topology.Transactions {
		txs = append(txs, TopologyTransaction{tx, multihash(topologyPurpose, tx)})
	}
	return topology.Party, txs, nil
}

// synchronizer is the one of the coin.
func (w *External) synchronizer(ctx context.Context) (string, error) {
	rules, err := w.network.coinRules(ctx)
	if err != nil {
		return "", err
	}
	connected, err := w.ledger.Synchronizers(ctx)
	if err != nil {
		return "", translate(err)
	}
	active := rules.Schedule.Initial.Synchronizer.Active
	if i := slices.IndexFunc(connected, func(s node.Synchronizer) bool { return s.ID == active }); i >= 0 {
		return active, nil
	}
	if len(connected) == 0 {
		return "", fail(ErrUnavailable, "the node is connected to no synchronizer")
	}
	return connected[0].ID, nil
}

// SubmitTopology allocates the party that the signed transactions describe and waits until
// the node knows it. A signature that does not fit is ErrInvalid.
func (w *External) SubmitTopology(ctx context.Context, publicKey []byte, signed []SignedTopology) (party string, err error) {
	if err := checkKey(publicKey); err != nil {
		return "", err
	}
	if len(signed) == 0 {
		return "", invalid("signed_topology_txs must not be empty")
	}
	transactions := make([]node.SignedTransaction, len(signed))
	for i, s := range signed {
		if len(s.Signature) != ed25519.SignatureSize || !ed25519.Verify(publicKey, multihash(topologyPurpose, s.Transaction), s.Signature) {
			return "", invalid("the signature of topology transaction %d does not fit its hash and the key", i+1)
		}
		transactions[i] = node.SignedTransaction(s)
	}
	synchronizer, err := w.synchronizer(ctx)
	if err != nil {
		return "", err
	}
	ctx, cancel := w.detached(ctx)
	defer cancel()
	if party, err = w.ledger.AllocateExternal(ctx, synchronizer, fingerprint(publicKey), transactions); err != nil {
		return "", translate(err)
	}
	own, err := w.ledger.SubmittingUser(ctx)
	if err != nil {
		return "", translate(err)
	}
	rights := []node.Right{{Kind: node.CanActAs, Party: party}, {Kind: node.CanReadAs, Party: party}, {Kind: node.CanExecuteAs, Party: party}}
	return party, w.grantOwn(ctx, own, rights)
}

// setupProposalPayload is ExternalPartySetupProposal.
type setupProposalPayload struct {
	Validator string `json:"validator"`
	User      string `json:"user"`
}

// ProposeSetup proposes to an external party to be set up, which the operator pays for. The
// contract of the result is the ExternalPartySetupProposal. A party that is set up or has
// a proposal is ErrConflict, an unknown one ErrNotFound.
func (w *External) ProposeSetup(ctx context.Context, party string) (done Done, err error) {
	if err := checkParty(party); err != nil {
		return done, err
	}
	at, err := w.network.Now(ctx)
	if err != nil {
		return done, err
	}
	switch _, known, err := w.ledger.Party(ctx, party); {
	case err != nil:
		return done, translate(err)
	case !known:
		return done, notFound("Party %s is not known to the node", party)
	}
	err = w.tracking.once(ctx, "setup-proposal", party, "", nil, func(attempt) error {
		if err := w.checkNotSetUp(ctx, party, at); err != nil {
			return err
		}
		value := map[string]any{"externalParty": party, "preapprovalExpiresAt": timestamp(at.Add(w.lifetime))}
		done, err = w.coins.asOperator(ctx, operation{"CO_CreateExternalPartySetupProposal", value})
		return err
	})
	return done, err
}

// checkNotSetUp is ErrConflict for a party with a preapproval or a proposal.
func (w *External) checkNotSetUp(ctx context.Context, party string, at time.Time) error {
	have, err := w.network.preapproval(ctx, party, at)
	if err != nil {
		return err
	}
	if have != nil {
		return &Error{Kind: ErrConflict, Message: "TransferPreapproval for party " + party + " already exists", ContractID: have.ID}
	}
	proposal, err := w.setupProposal(ctx, party)
	if err != nil {
		return err
	}
	if proposal != "" {
		return &Error{Kind: ErrConflict, Message: "ExternalPartySetupProposal for party " + party + " already exists", ContractID: proposal}
	}
	return nil
}

// setupProposal returns the operator's proposal to a party, "" without one.
func (w *External) setupProposal(ctx context.Context, party string) (string, error) {
	q := ContractQuery{Parties: []string{party}, Templates: []string{template.ExternalPartySetupProposal}, Limit: 10}
	return firstID(ctx, w.reader, q, func(p *setupProposalPayload) bool { return p.User == party && p.Validator == w.operator })
}

// PreparedSubmission is a transaction that an external party signs.
type PreparedSubmission struct {
	Transaction []byte
	Hash        []byte // what is signed
	// HashingDetails is how the hash came about, "" unless it was asked for.
	HashingDetails string
	// ContractIDPrefix is how the id of the TransferCommand begins, of PrepareSend.
	ContractIDPrefix string
}

// PrepareAcceptSetup prepares the acceptance of a setup proposal by its party.
func (w *External) PrepareAcceptSetup(ctx context.Context, party, contractID string, verbose bool) (PreparedSubmission, error) {
	if err := checkParty(party); err != nil {
		return PreparedSubmission{}, err
	}
	proposal, err := w.setupProposal(ctx, party)
	switch {
	case err != nil:
		return PreparedSubmission{}, err
	case proposal == "":
		return PreparedSubmission{}, notFound("No ExternalPartySetupProposal found for party %s", party)
	case proposal != contractID:
		return PreparedSubmission{}, invalid("contract_id %.80s is not the ExternalPartySetupProposal of party %s", contractID, party)
	}
	return w.prepare(ctx, exerciseAs(party, template.ExternalPartySetupProposal, contractID, "ExternalPartySetupProposal_Accept", noArgument), verbose)
}

func (w *External) prepare(ctx context.Context, s node.Submission, verbose bool) (PreparedSubmission, error) {
	p, err := w.ledger.Prepare(ctx, s, verbose)
	if err != nil {
		return PreparedSubmission{}, translate(err)
	}
	return PreparedSubmission{Transaction: p.Transaction, Hash: p.Hash, HashingDetails: p.HashingDetails}, nil
}

// ExternalSend is a transfer by an external party.
type ExternalSend struct {
	Sender, Receiver string
	Amount           decimal.Decimal
	ExpiresAt        time.Time
	Nonce            int64
	Description      string // "" for none
	Verbose          bool
}

func (r *ExternalSend) check(at time.Time) error {
	if err := checkAmount(r.Amount); err != nil {
		return err
	}
	switch {
	case r.Nonce < 0:
		return invalid("nonce must not be negative, but is %d", r.Nonce)
	case !r.ExpiresAt.After(at):
		return invalid("expires_at must be in the future, not %s", timestamp(r.ExpiresAt))
	}
	if err := checkParty(r.Sender); err != nil {
		return err
	}
	return checkParty(r.Receiver)
}

// PrepareSend prepares a TransferCommand. A receiver without preapproval is ErrNotFound;
// ErrDisabled unless the configuration allows transfer commands.
func (w *External) PrepareSend(ctx context.Context, r ExternalSend) (PreparedSubmission, error) {
	if !w.transferCommands {
		return PreparedSubmission{}, fail(ErrDisabled, "transfer commands are switched off")
	}
	at, err := w.network.Now(ctx)
	if err != nil {
		return PreparedSubmission{}, err
	}
	if err := r.check(at); err != nil {
		return PreparedSubmission{}, err
	}
	switch preapproval, err := w.network.preapproval(ctx, r.Receiver, at); {
	case err != nil:
		return PreparedSubmission{}, err
	case preapproval == nil:
		return PreparedSubmission{}, notFound("Receiver %s doesn't have a TransferPreapproval", r.Receiver)
	}
	factory, err := w.network.single(ctx, template.ExternalPartyCoinRules, "rules for external parties")
	if err != nil {
		return PreparedSubmission{}, err
	}
	rules, err := w.network.coinRules(ctx)
	if err != nil {
		return PreparedSubmission{}, err
	}
	argument := map[string]any{
		"sender": r.Sender, "receiver": r.Receiver, "delegate": w.operator, "amount": r.Amount, "expiresAt": timestamp(r.ExpiresAt),
		"nonce": strconv.FormatInt(r.Nonce, 10), "description": optional(r.Description), "expectedDso": rules.DSO,
	}
	s := exerciseAs(r.Sender, template.ExternalPartyCoinRules, factory.ID, createCommandChoice, argument)
	s.Disclosed = disclose(&factory)
	p, err := w.prepare(ctx, s, r.Verbose)
	if err != nil {
		return p, err
	}
	p.ContractIDPrefix, err = createdIn(p.Transaction)
	return p, err
}

const createCommandChoice = "ExternalPartyAmuletRules_CreateTransferCommand"

// ExternalSubmission is a prepared transaction with its signature.
type ExternalSubmission struct {
	Party       string
	Transaction []byte // unchanged
	Signature   []byte // Ed25519, of the hash
	PublicKey   []byte // 32 bytes
}

// executeSigned executes what its party has signed.
func (w *External) executeSigned(ctx context.Context, s ExternalSubmission) (*node.Transaction, Done, error) {
	if err := checkParty(s.Party); err != nil {
		return nil, Done{}, err
	}
	if err := checkKey(s.PublicKey); err != nil {
		return nil, Done{}, err
	}
	switch {
	case fingerprint(s.PublicKey) != node.Fingerprint(s.Party):
		return nil, Done{}, invalid("public_key is not that of party %s", s.Party)
	case len(s.Signature) != ed25519.SignatureSize:
		return nil, Done{}, invalid("signed_tx_hash must have %d bytes, not %d", ed25519.SignatureSize, len(s.Signature))
	case len(s.Transaction) == 0:
		return nil, Done{}, invalid("transaction must not be empty")
	}
	ctx, cancel := w.detached(ctx)
	defer cancel()
	tx, err := w.ledger.Execute(ctx, node.Execution{Transaction: s.Transaction, Party: s.Party, Signature: s.Signature})
	if err != nil {
		return nil, Done{}, translate(err)
	}
	return tx, w.landed(ctx, tx), nil
}

// SubmitAcceptSetup executes what PrepareAcceptSetup prepared. The contract of the result is
// the TransferPreapproval. A wrong signature is ErrInvalid.
func (w *External) SubmitAcceptSetup(ctx context.Context, s ExternalSubmission) (Done, error) {
	return w.submitSigned(ctx, s, template.TransferPreapproval)
}

// SubmitSend executes what PrepareSend prepared: it creates the TransferCommand, the contract
// of the result. The transfer follows later.
func (w *External) SubmitSend(ctx context.Context, s ExternalSubmission) (Done, error) {
	if !w.transferCommands {
		return Done{}, fail(ErrDisabled, "transfer commands are switched off")
	}
	return w.submitSigned(ctx, s, template.TransferCommand)
}

// submitSigned executes a transaction that creates a contract of a template.
func (w *External) submitSigned(ctx context.Context, s ExternalSubmission, name string) (Done, error) {
	tx, done, err := w.executeSigned(ctx, s)
	if err != nil {
		return Done{}, err
	}
	done.ContractID, err = createdOf(tx, name)
	return done, err
}
