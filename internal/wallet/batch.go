package wallet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// operation is the variant AmuletOperation.
type operation struct {
	Tag   string `json:"tag"`
	Value any    `json:"value"`
}

// outcome is the variant AmuletOperationOutcome.
type outcome struct {
	Tag   string          `json:"tag"`
	Value json.RawMessage `json:"value"`
}

// batch is one operation on the coins of a wallet.
type batch struct {
	operation operation
	// urgent ones go before others that wait.
	urgent bool
	// commandID, unless it is "", identifies batches of which one is executed within sameFor.
	commandID string
	// withoutFunds is for operations that pay nothing.
	withoutFunds bool
	// worth, if not nil, says whether a batch with these funds is worth its traffic.
	worth func(*Funds) bool
	// disclosed are contracts that the wallet does not see, besides those of all payments.
	disclosed []*Contract
}

// errIdle means that a batch is not worth being executed.
var errIdle = errors.New("nothing to do")

// staleAttempts is how often a batch is tried whose coins are gone: the store may not show yet
// how another action used them.
const staleAttempts = 3

// inTurn calls do when it is the wallet's turn, and again if contracts that the store shows are
// gone. Too many that wait are ErrInFlight.
func (w *Coins) inTurn(ctx context.Context, party string, urgent bool, do func(context.Context) error) error {
	ctx, cancel := w.detached(ctx)
	defer cancel()
	leave, err := w.treasury.enter(ctx, party, urgent)
	if err != nil {
		return err
	}
	defer leave()
	return w.untilFresh(ctx, do)
}

// untilFresh calls do, and again if contracts that the store shows are gone.
func (w *submitter) untilFresh(ctx context.Context, do func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := do(ctx)
		if attempt == staleAttempts || !stale(err) {
			return err
		}
		if err := w.catchUp(ctx); err != nil {
			return err
		}
	}
}

// execute runs a batch when it is the wallet's turn. The outcome is that of its operation;
// a failed operation is an error.
func (w *Coins) execute(ctx context.Context, actor Actor, b batch) (value json.RawMessage, done Done, err error) {
	install, err := w.install(ctx, actor)
	if err != nil {
		return nil, done, err
	}
	err = w.inTurn(ctx, actor.Party, b.urgent, func(ctx context.Context) error {
		value, done, err = w.executeNow(ctx, actor, install, b)
		return err
	})
	return value, done, err
}

// executeFor is execute for an operation whose outcome is a contract: the contract of the result,
// or "" if there is none.
func (w *Coins) executeFor(ctx context.Context, actor Actor, b batch) (Done, error) {
	value, done, err := w.execute(ctx, actor, b)
	if err != nil {
		return done, err
	}
	if err := json.Unmarshal(value, &done.ContractID); err != nil {
		return done, fmt.Errorf("reading the outcome of an operation: %w", err)
	}
	return done, nil
}

// asOperator is executeFor for an operation of the operator's own wallet.
func (w *Coins) asOperator(ctx context.Context, o operation) (Done, error) {
	operator, err := w.users.Operator(ctx)
	if err != nil {
		return Done{}, err
	}
	return w.executeFor(ctx, operator, batch{operation: o})
}

// stale reports whether a command failed because a contract of it was gone, or in use.
func stale(err error) bool {
	var r *node.Refusal
	return errors.As(err, &r) && (r.Code == node.CodeContractNotFound || r.Category == 2)
}

func (w *Coins) executeNow(ctx context.Context, actor Actor, install string, b batch) (json.RawMessage, Done, error) {
	m, err := w.network.Market(ctx)
	if err != nil {
		return nil, Done{}, err
	}
	funds := &Funds{}
	if !b.withoutFunds {
		if funds, err = w.Funds(ctx, actor.Party, m); err != nil {
			return nil, Done{}, err
		}
	}
	if b.worth != nil && !b.worth(funds) {
		return nil, Done{}, errIdle
	}
	limit := maxInputs
	if n := m.Config().Transfer.MaxInputs; n > 0 {
		limit = min(limit, int(n))
	}
	inputs := funds.Inputs(limit)
	if inputs == nil {
		inputs = []Input{}
	}
	var within time.Duration
	if b.commandID != "" {
		within = sameFor
	}
	argument := map[string]any{"context": m.context(funds), "inputs": inputs, "operations": []operation{b.operation}}
	tx, done, err := w.submit(ctx, node.Submission{
		CommandID: b.commandID, DeduplicateFor: within, ActAs: w.asBoth(actor.Party),
		Commands:  []node.Command{node.Exercise(command(template.WalletAppInstall), install, template.WalletAppInstallExecuteBatch, argument)},
		Disclosed: disclose(append(m.disclosed(), append(b.disclosed, funds.featured)...)...),
	})
	if err != nil {
		return nil, done, err
	}
	value, err := outcomeOf(tx)
	return value, done, err
}

// outcomeOf returns what came of the operation of a batch.
func outcomeOf(tx *node.Transaction) (json.RawMessage, error) {
	var result struct {
		Outcomes []outcome `json:"outcomes"`
	}
	if err := tx.Result(template.WalletAppInstallExecuteBatch, &result); err != nil {
		return nil, err
	}
	if len(result.Outcomes) != 1 {
		return nil, fmt.Errorf("the batch of update %s has %d outcomes for one operation", tx.UpdateID, len(result.Outcomes))
	}
	if o := result.Outcomes[0]; o.Tag != template.OutcomeError {
		return o.Value, nil
	}
	return nil, failedOperation(tx.UpdateID, result.Outcomes[0].Value)
}

// Reasons are why an operation of a batch failed.
var (
	// ErrFunds means that the wallet has too little.
	ErrFunds = errors.New("insufficient funds")
	// ErrTopUp means that less traffic was asked for than is sold at a time.
	ErrTopUp = errors.New("too little traffic at a time")
)

// failedOperation reads the variant InvalidTransferReason.
func failedOperation(update string, raw json.RawMessage) error {
	var reason struct {
		Tag   string `json:"tag"`
		Value struct {
			Missing      decimal.Decimal `json:"missingAmount"`
			Synchronizer string          `json:"synchronizerId"`
			Requested    json.RawMessage `json:"requestedTopupAmount"`
			Minimum      json.RawMessage `json:"minTopupAmount"`
			Description  string          `json:"description"`
		} `json:"value"`
	}
	if err := json.Unmarshal(raw, &reason); err != nil {
		return fmt.Errorf("reading why an operation of update %s failed: %w", update, err)
	}
	v := &reason.Value
	switch reason.Tag {
	case template.InsufficientFunds:
		e := invalid("Insufficient funds: missing %s CC", v.Missing)
		e.Err = ErrFunds
		return e
	case template.UnknownSynchronizer:
		return invalid("Unknown synchronizer: %s", v.Synchronizer)
	case template.InsufficientTopUpAmount:
		e := invalid("Insufficient top-up amount: requested %s, minimum %s", v.Requested, v.Minimum)
		e.Err = ErrTopUp
		return e
	}
	return invalid("The transfer failed: %s %s", reason.Tag, v.Description)
}
