package validator

import (
	"context"
	"fmt"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/template/views"
)

// tokenPath is where transfers of the token standard are, below a version.
const tokenPath = "/wallet/token-standard/transfers"

// tokenTransfers are transfers by the token standard.
type tokenTransfers struct {
	reader  *reader
	network Network
}

// operations are transfers by the token standard. The generations of the path are by versions of the
// standard.
func (t *tokenTransfers) operations() []operation {
	ops := []operation{{method: "GET", path: "/v0" + tokenPath, name: "token_transfers", handle: t.list}}
	for version, of := range map[string]func(*caller) Tokens{
		"v0": func(c *caller) Tokens { return c.commands.Tokens },
		"v2": func(c *caller) Tokens { return c.commands.TokensV2 },
	} {
		path := "/" + version + tokenPath
		ops = append(ops, operation{method: "POST", path: path, name: version + ".create_token_transfer", write: true, handle: t.create(of)})
		for action, do := range map[string]tokenAction{"accept": Tokens.Accept, "reject": Tokens.Reject, "withdraw": Tokens.Withdraw} {
			ops = append(ops, operation{method: "POST", path: path + "/{contract_id}/" + action, name: version + "." + action + "_token_transfer", write: true, handle: instruct(of, do)})
		}
	}
	return ops
}

// tokenAction is something that a party does with a transfer instruction.
type tokenAction func(tokens Tokens, ctx context.Context, actor wallet.Actor, contractID string) (wallet.InstructionResult, error)

// instruct makes the handler of an action by a version of the standard.
func instruct(of func(*caller) Tokens, do tokenAction) func(context.Context, *caller) error {
	return byPath(func(ctx context.Context, c *caller, contractID string) error {
		result, err := do(of(c), ctx, c.actor(), contractID)
		return instructionAnswer(c, result, err)
	})
}

func (t *tokenTransfers) create(of func(*caller) Tokens) func(context.Context, *caller) error {
	return func(ctx context.Context, c *caller) error {
		r, err := offerRequest(ctx, t.network, c)
		if err != nil {
			return err
		}
		result, err := of(c).Create(ctx, c.actor(), r)
		return instructionAnswer(c, result, err)
	}
}

// instructionOutput has the first member of a pending transfer, the second of a completed one and
// none of one that failed.
type instructionOutput struct {
	Instruction string   `json:"transfer_instruction_cid,omitempty"`
	Holdings    []string `json:"receiver_holding_cids,omitempty"`
}

func instructionAnswer(c *caller, result wallet.InstructionResult, err error) error {
	if err != nil {
		return refused(err)
	}
	changed(c, result.Done)
	return c.JSON(struct {
		Output instructionOutput `json:"output"`
		Change []string          `json:"sender_change_cids"`
		Meta   map[string]string `json:"meta"`
	}{instructionOutput{result.Pending, result.Completed}, orNone(result.Change), orEmpty(result.Meta)})
}

// list lists open transfers of the token standard of which the caller is sender or
// receiver, with the interface's view of them as payload.
func (t *tokenTransfers) list(ctx context.Context, c *caller) error {
	q := wallethistory.Query{Parties: []string{c.party}, Templates: []string{template.CoinTransferInstruction}}
	list, err := t.reader.contracts(ctx, q, maxListed, func(instruction *contract) (bool, error) {
		payload, err := instructionView(nil, instruction.payload)
		if err != nil {
			return false, fmt.Errorf("showing contract %s: %w", instruction.Event.ContractID, err)
		}
		instruction.payload = payload
		var shown struct {
			Transfer struct{ Sender, Receiver string }
		}
		err = instruction.decode(&shown)
		return shown.Transfer.Sender == c.party || shown.Transfer.Receiver == c.party, err
	})
	if err != nil {
		return err
	}
	return c.JSON(map[string][]*query.ContractView{"transfers": viewsOf(list)})
}

// instructionView computes what the interface TransferInstruction shows of a contract.
var instructionView = views.Of(template.CoinTransferInstruction, template.Entity(template.TransferInstruction))
