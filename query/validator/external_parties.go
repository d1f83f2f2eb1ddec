package validator

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// externalPath is where the steps of external parties are.
const externalPath = "/v0/admin/external-party"

// Lengths of Ed25519, in bytes.
const (
	publicKeyBytes = 32
	signatureBytes = 64
)

// externalParties sets up parties that keep their own keys, and sends their coins.
type externalParties struct {
	reader   *reader
	accounts *accounts
	rounds   rounds
	network  Network
	// transferCommands is Config.TransferCommands.
	transferCommands bool
}

func (e *externalParties) operations() []operation {
	ops := []operation{
		{method: "POST", path: externalPath + "/topology/generate", name: "generate_topology", write: true, handle: generateTopology},
		{method: "POST", path: externalPath + "/topology/submit", name: "submit_topology", write: true, handle: submitTopology},
		{method: "POST", path: externalPath + "/setup-proposal", name: "propose_setup", write: true, handle: proposeSetup},
		{method: "GET", path: externalPath + "/setup-proposal", name: "setup_proposals", handle: e.setupProposals},
		{method: "POST", path: externalPath + "/setup-proposal/prepare-accept", name: "prepare_accept_setup", write: true, handle: prepareAcceptSetup},
		{method: "POST", path: externalPath + "/setup-proposal/submit-accept", name: "submit_accept_setup", write: true, handle: submitAcceptSetup},
		{method: "POST", path: externalPath + "/transfer-preapproval/prepare-send", name: "prepare_send", write: true, handle: e.prepareSend},
		{method: "POST", path: externalPath + "/transfer-preapproval/submit-send", name: "submit_send", write: true, handle: e.submitSend},
		{method: "GET", path: externalPath + "/balance", name: "external_balance", handle: e.balance},
	}
	for i := range ops {
		ops[i].access = operatorOnly
	}
	return ops
}

// hexOf reads a required text in hexadecimal digits of just so many bytes.
func hexOf(p *query.Params, name string, size int) []byte {
	text := p.Text(name)
	if p.Err() != nil {
		return nil
	}
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != size {
		p.Fail("Member %s must have %d bytes in hexadecimal digits.", name, size)
	}
	return raw
}

// base64Of reads a required text in base64.
func base64Of(p *query.Params, name string) []byte {
	text := p.Text(name)
	if p.Err() != nil {
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) == 0 {
		p.Fail("Member %s must be in base64.", name)
	}
	return raw
}

type topologyTx struct {
	Tx   string `json:"topology_tx"`
	Hash string `json:"hash"`
}

func generateTopology(ctx context.Context, c *caller) error {
	p := c.Body()
	hint, key := textOf(p, "party_hint", 1, maxPartyHint), hexOf(p, "public_key", publicKeyBytes)
	if err := p.Err(); err != nil {
		return err
	}
	party, txs, err := c.commands.External.GenerateTopology(ctx, hint, key)
	if err != nil {
		return refused(err)
	}
	list := make([]topologyTx, len(txs))
	for i, tx := range txs {
		list[i] = topologyTx{base64.StdEncoding.EncodeToString(tx.Transaction), hex.EncodeToString(tx.Hash)}
	}
	return c.JSON(struct {
		Party string       `json:"party_id"`
		Txs   []topologyTx `json:"topology_txs"`
	}{party, list})
}

// maxTopologyTxs is more than a party ever needs.
const maxTopologyTxs = 100

func submitTopology(ctx context.Context, c *caller) error {
	p := c.Body()
	key := hexOf(p, "public_key", publicKeyBytes)
	var signed []wallet.SignedTopology
	for _, tx := range p.Objects("signed_topology_txs", 1, maxTopologyTxs) {
		signed = append(signed, wallet.SignedTopology{Transaction: base64Of(tx, "topology_tx"), Signature: hexOf(tx, "signed_hash", signatureBytes)})
	}
	if err := p.Err(); err != nil {
		return err
	}
	party, err := c.commands.External.SubmitTopology(ctx, key, signed)
	if err != nil {
		return refused(err)
	}
	return c.JSON(map[string]string{"party_id": party})
}

func proposeSetup(ctx context.Context, c *caller) error {
	p := c.Body()
	party := partyOf(p, "user_party_id")
	if err := p.Err(); err != nil {
		return err
	}
	done, err := c.commands.External.ProposeSetup(ctx, party)
	return contractAnswer(c, "contract_id", done, err)
}

// preparedAnswer is a transaction that is to be signed.
type preparedAnswer struct {
	Transaction string `json:"transaction"`
	Hash        string `json:"tx_hash"`
	// Prefix is how the id of the contract begins, of a transfer.
	Prefix  string `json:"transfer_command_contract_id_prefix,omitempty"`
	Details string `json:"hashing_details,omitempty"`
}

func prepared(c *caller, s wallet.PreparedSubmission, err error) error {
	if err != nil {
		return refused(err)
	}
	return c.JSON(preparedAnswer{
		base64.StdEncoding.EncodeToString(s.Transaction), hex.EncodeToString(s.Hash), s.ContractIDPrefix, s.HashingDetails,
	})
}

func prepareAcceptSetup(ctx context.Context, c *caller) error {
	p := c.Body()
	id, party, verbose := textOf(p, "contract_id", 1, maxContractID), partyOf(p, "user_party_id"), p.Bool("verbose_hashing")
	if err := p.Err(); err != nil {
		return err
	}
	s, err := c.commands.External.PrepareAcceptSetup(ctx, party, id, verbose)
	return prepared(c, s, err)
}

// submissionOf reads a prepared transaction with its signature.
func submissionOf(c *caller) (wallet.ExternalSubmission, error) {
	p := c.Body()
	inner := p.RequiredObject("submission")
	if err := p.Err(); err != nil {
		return wallet.ExternalSubmission{}, err
	}
	s := wallet.ExternalSubmission{
		Party: partyOf(inner, "party_id"), Transaction: base64Of(inner, "transaction"),
		Signature: hexOf(inner, "signed_tx_hash", signatureBytes), PublicKey: hexOf(inner, "public_key", publicKeyBytes),
	}
	return s, p.Err()
}

func submitAcceptSetup(ctx context.Context, c *caller) error {
	s, err := submissionOf(c)
	if err != nil {
		return err
	}
	done, err := c.commands.External.SubmitAcceptSetup(ctx, s)
	if err != nil {
		return refused(err)
	}
	changed(c, done)
	return c.JSON(map[string]string{preapprovalMember: done.ContractID, "update_id": done.UpdateID})
}

// errNoTransferCommands refuses the deprecated transfers.
func errNoTransferCommands() error {
	return query.Errorf(query.Disabled, "Transfer commands are switched off: external parties send by the token standard.")
}

func (e *externalParties) prepareSend(ctx context.Context, c *caller) error {
	now, err := e.network.Time(ctx)
	if err != nil {
		return err
	}
	p := c.Body()
	r := wallet.ExternalSend{
		Sender: partyOf(p, "sender_party_id"), Receiver: partyOf(p, "receiver_party_id"), Amount: numberOf(p, "amount"),
		ExpiresAt: p.Time("expires_at").Time(), Nonce: p.Int64("nonce"), Verbose: p.Bool("verbose_hashing"),
		Description: optionalTextOf(p, "description", maxDescription),
	}
	switch {
	case p.Err() != nil:
	case r.Nonce < 0:
		p.Fail("Member nonce must not be negative.")
	case !r.ExpiresAt.After(now):
		p.Fail("Member expires_at must be in the future, not %s.", r.ExpiresAt.Format(time.RFC3339))
	}
	if err := p.Err(); err != nil {
		return err
	}
	if !e.transferCommands {
		return errNoTransferCommands()
	}
	s, err := c.commands.External.PrepareSend(ctx, r)
	return prepared(c, s, err)
}

// numberOf reads an amount that is a JSON number or a text.
func numberOf(p *query.Params, name string) decimal.Decimal {
	raw := p.Raw(name)
	if p.Err() != nil {
		return decimal.Decimal{}
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		if text = string(raw); strings.ContainsAny(text, "eE") {
			text = withoutExponent(text)
		}
	}
	return parseAmount(p, name, text)
}

// withoutExponent writes a number such as 1e-05, as an encoder may have written a small amount,
// without its exponent. Any other JSON, and exponents that no amount has, stay as they are.
func withoutExponent(text string) string {
	mantissa, power, _ := strings.Cut(strings.ToLower(text), "e")
	exponent, err := strconv.Atoi(power)
	number, ok := new(big.Rat).SetString(mantissa)
	if err != nil || exponent < -38 || exponent > 38 || !ok || len(text) > 100 {
		return text
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil)
	if exponent < 0 {
		number.Quo(number, new(big.Rat).SetInt(scale))
	} else {
		number.Mul(number, new(big.Rat).SetInt(scale))
	}
	digits, _ := number.FloatPrec()
	return number.FloatString(digits)
}

func (e *externalParties) submitSend(ctx context.Context, c *caller) error {
	s, err := submissionOf(c)
	if err != nil {
		return err
	}
	if !e.transferCommands {
		return errNoTransferCommands()
	}
	done, err := c.commands.External.SubmitSend(ctx, s)
	if err != nil {
		return refused(err)
	}
	changed(c, done)
	return c.JSON(map[string]string{"update_id": done.UpdateID})
}
