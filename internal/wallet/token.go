package wallet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Tokens transfers coins by a version of the token standard.
type Tokens struct {
	*submitter
	tracking *tracker
	network  *Network
	coins    *Coins
	// v2 says that it is the second one, in which accounts stand for parties and choices name their
	// actors.
	v2 bool
}

// InstructionResult is the outcome of a step of a transfer of the token standard.
type InstructionResult struct {
	Done
	// Pending is the transfer instruction that waits for the receiver, Completed are the
	// receiver's holdings; both are empty if the transfer failed.
	Pending   string
	Completed []string
	// Change are the holdings that the sender has left of the inputs.
	Change []string
	Meta   map[string]string
}

type metadata struct {
	Values map[string]string `json:"values"`
}

// anyValue is the variant AnyValue.
type anyValue struct {
	Tag   string `json:"tag"`
	Value any    `json:"value"`
}

// extraArgs are what a choice of the token standard needs besides its arguments.
type extraArgs struct {
	Context struct {
		Values map[string]anyValue `json:"values"`
	} `json:"context"`
	Meta metadata `json:"meta"`

	disclosed []*Contract
}

func newExtraArgs() *extraArgs {
	x := &extraArgs{Meta: metadataOf(nil)}
	x.Context.Values = map[string]anyValue{}
	return x
}

// with adds a contract to the context, unless it is nil.
func (x *extraArgs) with(key string, c *Contract) {
	if c != nil {
		x.Context.Values[key] = anyValue{template.AnyContractID, c.ID}
		x.disclosed = append(x.disclosed, c)
	}
}

// extraArgs has the contracts that all choices of the coin's instructions need.
func (w *Network) extraArgs(ctx context.Context, m *Market) (*extraArgs, error) {
	x, err := w.stateArgs(ctx)
	if err != nil {
		return nil, err
	}
	x.with(template.ContextCoinRules, &m.Rules)
	x.with(template.ContextOpenRound, &m.Open)
	return x, nil
}

// marketArgs is extraArgs with the present market.
func (w *Network) marketArgs(ctx context.Context) (*extraArgs, error) {
	m, err := w.Market(ctx)
	if err != nil {
		return nil, err
	}
	return w.extraArgs(ctx, m)
}

// stateArgs has the contract that choices of the second version of the standard need.
func (w *Network) stateArgs(ctx context.Context) (*extraArgs, error) {
	x := newExtraArgs()
	states, err := w.public.Public(ctx, "", template.ExternalPartyConfigState)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration for external parties: %w", err)
	}
	if len(states) > 0 {
		x.with(template.ContextConfigState, &states[len(states)-1])
	}
	return x, nil
}

// Create offers coins by the token standard, which locks them, or transfers
// them at once to a receiver with a preapproval. Another one of the actor with the same tracking
// id within 24 hours, by either version, has the result of the first; while that is being done it is
// ErrInFlight.
func (w *Tokens) Create(ctx context.Context, actor Actor, r OfferRequest) (InstructionResult, error) {
	at, err := w.network.Now(ctx)
	if err != nil {
		return InstructionResult{}, err
	}
	if err := r.check(at); err != nil {
		return InstructionResult{}, err
	}
	return repeatable(ctx, w.tracking, "token-transfer", actor.Party, r.TrackingID, func(a attempt) (result InstructionResult, err error) {
		err = w.coins.inTurn(ctx, actor.Party, false, func(ctx context.Context) error {
			result, err = w.transfer(ctx, actor, r, a)
			return err
		})
		return result, err
	})
}

func (w *Tokens) transfer(ctx context.Context, actor Actor, r OfferRequest, a attempt) (InstructionResult, error) {
	m, err := w.network.Market(ctx)
	if err != nil {
		return InstructionResult{}, err
	}
	factory, err := w.network.single(ctx, template.ExternalPartyCoinRules, "rules for external parties")
	if err != nil {
		return InstructionResult{}, err
	}
	extra, err := w.network.extraArgs(ctx, m)
	if err != nil {
		return InstructionResult{}, err
	}
	if err := w.addPreapproval(ctx, extra, r.Receiver, m.At); err != nil {
		return InstructionResult{}, err
	}
	inputs, err := w.coins.holdings(ctx, actor.Party, r.Amount)
	if err != nil {
		return InstructionResult{}, err
	}
	transfer := map[string]any{
		"sender": actor.Party, "receiver": r.Receiver, "amount": r.Amount,
		"instrumentId": map[string]string{"admin": m.DSO, "id": template.CoinInstrument},
		"requestedAt":  timestamp(m.At.Add(-requestedBefore)), "executeBefore": timestamp(r.ExpiresAt), "inputHoldingCids": inputs,
		"meta": metadata{map[string]string{template.ReasonKey: r.Description}},
	}
	argument := map[string]any{"extraArgs": extra, "transfer": transfer}
	of := template.TransferFactory
	if w.v2 {
		of, transfer["sender"], transfer["receiver"] = template.TransferFactoryV2, accountV2{Owner: actor.Party}, accountV2{Owner: r.Receiver}
		argument["actors"] = []string{actor.Party}
	} else {
		argument["expectedAdmin"] = m.DSO
	}
	return w.instruct(ctx, template.TransferFactoryTransfer, node.Submission{
		CommandID: a.commandID, DeduplicateFor: sameFor, ActAs: []string{actor.Party},
		Commands:  []node.Command{node.Exercise(command(of), factory.ID, template.TransferFactoryTransfer, argument)},
		Disclosed: disclose(append(extra.disclosed, &factory)...),
	})
}

// requestedBefore is how far back a transfer is dated: it must not be requested in the
// future, by the ledger's clock.
const requestedBefore = time.Second

// mergeWithin is how long the transfers of a merge may take.
const mergeWithin = time.Hour

// addPreapproval adds what lets a transfer complete at once.
func (w *Tokens) addPreapproval(ctx context.Context, x *extraArgs, receiver string, at time.Time) error {
	preapproval, err := w.network.preapproval(ctx, receiver, at)
	if err != nil || preapproval == nil {
		return err
	}
	x.with(template.ContextPreapproval, preapproval)
	featured, err := w.network.providersRight(ctx, preapproval)
	if err != nil {
		return err
	}
	x.with(template.ContextFeaturedApp, featured)
	return nil
}

// holdings picks coins for an amount, largest first, as many as it needs and at most maxInputs.
func (w *Coins) holdings(ctx context.Context, party string, amount decimal.Decimal) ([]string, error) {
	coins, err := coinsOf(ctx, w.reader, party)
	if err != nil {
		return nil, err
	}
	missing := amount
	var ids []string
	for _, c := range coins {
		ids = append(ids, c.ContractID)
		if missing = missing.Minus(c.Amount); missing.Sign() <= 0 {
			return ids, nil
		}
	}
	e := invalid("Insufficient funds: missing %s CC", missing)
	e.Err = ErrFunds
	return nil, e
}

// instructionPayload is AmuletTransferInstruction.
type instructionPayload struct {
	Transfer struct {
		Sender   string `json:"sender"`
		Receiver string `json:"receiver"`
	} `json:"transfer"`
}

// Accept accepts a transfer instruction to the actor.
func (w *Tokens) Accept(ctx context.Context, actor Actor, contractID string) (InstructionResult, error) {
	return w.answer(ctx, actor, contractID, template.TransferInstructionAccept, false)
}

// Reject rejects a transfer instruction to the actor.
func (w *Tokens) Reject(ctx context.Context, actor Actor, contractID string) (InstructionResult, error) {
	return w.answer(ctx, actor, contractID, template.TransferInstructionReject, false)
}

// Withdraw takes back a transfer instruction of the actor.
func (w *Tokens) Withdraw(ctx context.Context, actor Actor, contractID string) (InstructionResult, error) {
	return w.answer(ctx, actor, contractID, template.TransferInstructionWithdraw, true)
}

func (w *Tokens) answer(ctx context.Context, actor Actor, contractID, choice string, bySender bool) (InstructionResult, error) {
	var p instructionPayload
	if err := w.visible(ctx, actor.Party, contractID, template.CoinTransferInstruction, &p); err != nil {
		return InstructionResult{}, err
	}
	if role := p.Transfer.Receiver; !bySender && role != actor.Party || bySender && p.Transfer.Sender != actor.Party {
		return InstructionResult{}, notFound("No such token-standard transfer: %.80s", contractID)
	}
	extra, err := w.network.marketArgs(ctx)
	if err != nil {
		return InstructionResult{}, err
	}
	if choice != template.TransferInstructionAccept {
		extra.Context.Values[template.ContextExpireLock] = anyValue{template.AnyBool, true}
	}
	of, argument := template.TransferInstruction, map[string]any{"extraArgs": extra}
	if w.v2 {
		of, argument["actors"] = template.TransferInstructionV2, []string{actor.Party}
	}
	s := exerciseAs(actor.Party, of, contractID, choice, argument)
	s.Disclosed = disclose(extra.disclosed...)
	return w.instruct(ctx, choice, s)
}

// stepResult is what results of choices of the token standard have in common.
type stepResult struct {
	Output struct {
		Tag   string          `json:"tag"`
		Value json.RawMessage `json:"value"`
	} `json:"output"`
	Change []string `json:"senderChangeCids"`
	Meta   metadata `json:"meta"`
}

// instruct submits a choice of the token standard and reads its result.
func (w *Tokens) instruct(ctx context.Context, choice string, s node.Submission) (InstructionResult, error) {
	tx, done, err := w.submit(ctx, s)
	if err != nil {
		return InstructionResult{}, err
	}
	var result stepResult
	if err := tx.Result(choice, &result); err != nil {
		return InstructionResult{}, err
	}
	r := InstructionResult{Done: done, Change: result.Change, Meta: result.Meta.Values}
	var value struct {
		Pending   string   `json:"transferInstructionCid"`
		Completed []string `json:"receiverHoldingCids"`
	}
	if result.Output.Tag != template.TransferInstructionFailed {
		err = json.Unmarshal(result.Output.Value, &value)
	}
	r.Pending, r.Completed, r.ContractID = value.Pending, value.Completed, value.Pending
	if err != nil {
		err = fmt.Errorf("reading the output of %s in update %s: %w", choice, tx.UpdateID, err)
	}
	return r, err
}
