// Package devnettest has tests submit commands to a simulated network without a node between.
package devnettest

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
)

// Templates and interfaces as commands name them.
const (
	RulesTemplate         = "#splice-amulet:Splice.AmuletRules:AmuletRules"
	InstallTemplate       = "#splice-wallet:Splice.Wallet.Install:WalletAppInstall"
	OfferTemplate         = "#splice-wallet:Splice.Wallet.TransferOffer:TransferOffer"
	ProposalTemplate      = "#splice-wallet:Splice.Wallet.TransferPreapproval:TransferPreapprovalProposal"
	SetupTemplate         = "#splice-amulet:Splice.AmuletRules:ExternalPartySetupProposal"
	ExternalRulesTemplate = "#splice-amulet:Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules"
	InstructionTemplate   = "#splice-amulet:Splice.AmuletTransferInstruction:AmuletTransferInstruction"
	AllocationTemplate    = "#splice-amulet:Splice.AmuletAllocation:AmuletAllocation"
	NameRulesTemplate     = "#splice-amulet-name-service:Splice.Ans:AnsRules"
	PaymentTemplate       = "#splice-wallet-payments:Splice.Wallet.Payment:AppPaymentRequest"
	PaidTemplate          = "#splice-wallet-payments:Splice.Wallet.Payment:AcceptedAppPayment"
	SubscriptionTemplate  = "#splice-wallet-payments:Splice.Wallet.Subscriptions:SubscriptionRequest"
)

// NoExtraArgs is the extraArgs of a choice of the token standard.
const NoExtraArgs = `{"context":{"values":{}},"meta":{"values":{}}}`

// Commands submits commands to a ledger; a refused one ends the test.
type Commands struct {
	T      *testing.T
	Ledger *devnet.Ledger
	// Operator is the validator's party.
	Operator string

	count int
}

// New returns Commands for the ledger of a validator's node.
func New(t *testing.T, l *devnet.Ledger) *Commands {
	return &Commands{T: t, Ledger: l, Operator: strings.TrimPrefix(l.NodeDigests().ParticipantID, "participant-")}
}

// Ask asks the network's scan and returns a text of the answer.
func (c *Commands) Ask(method, path, body string, at ...string) string {
	c.T.Helper()
	answer := httptest.NewRecorder()
	c.Ledger.Handler().ServeHTTP(answer, httptest.NewRequest(method, path, strings.NewReader(body)))
	return c.Text(answer.Body.Bytes(), at...)
}

// Text reads a text out of JSON; "*" goes into the last element of a list.
func (c *Commands) Text(raw []byte, at ...string) string {
	c.T.Helper()
	for _, key := range at {
		var members map[string]json.RawMessage
		var list []json.RawMessage
		if key == "*" {
			if err := json.Unmarshal(raw, &list); err != nil || len(list) == 0 {
				c.T.Fatalf("%s is no list: %v", raw, err)
			}
			raw = list[len(list)-1]
			continue
		}
		if err := json.Unmarshal(raw, &members); err != nil || members[key] == nil {
			c.T.Fatalf("%.300s has no %s: %v", raw, key, err)
		}
		raw = members[key]
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		c.T.Fatalf("%.300s is no text: %v", raw, err)
	}
	return s
}

// Rules is the contract id in an answer about rules, such as of /v0/amulet-rules.
func (c *Commands) Rules(path, member string) string {
	c.T.Helper()
	return c.Ask("POST", path, "{}", member, "contract", "contract_id")
}

// Round is the contract of the round that is open at the end of history.
func (c *Commands) Round() string {
	c.T.Helper()
	return c.Ask("GET", "/v0/dso", "", "latest_mining_round", "contract", "contract_id")
}

func (c *Commands) coinRules() string { return c.Rules("/v0/amulet-rules", "amulet_rules_update") }

// ExternalRules is the contract of the token standard's factories.
func (c *Commands) ExternalRules() string {
	c.T.Helper()
	return c.Rules("/v0/external-party-amulet-rules", "external_party_amulet_rules_update")
}

// Context is a payment context in JSON.
func (c *Commands) Context() string {
	c.T.Helper()
	return fmt.Sprintf(`{"amuletRules":%q,"context":{"openMiningRound":%q,"issuingMiningRounds":[],"validatorRights":[]}}`, c.coinRules(), c.Round())
}

// AppContext is the context in which apps take payments, in JSON.
func (c *Commands) AppContext() string {
	c.T.Helper()
	return fmt.Sprintf(`{"amuletRules":%q,"openMiningRound":%q}`, c.coinRules(), c.Round())
}

// Submit executes one command and returns its result.
func (c *Commands) Submit(actAs []string, command devnet.Command, readAs ...string) json.RawMessage {
	c.T.Helper()
	c.count++
	done, err := c.Ledger.Submit(c.T.Context(), devnet.Submission{CommandID: fmt.Sprint("c-", c.count), ActAs: actAs, ReadAs: readAs,
		Commands: []devnet.Command{command}})
	if err != nil {
		c.T.Fatalf("%s %s: %v", command.TemplateID, command.Choice, err)
	}
	return done.Results[0]
}

// Create creates a contract with arguments in JSON, and returns its id.
func (c *Commands) Create(actAs []string, template, arguments string, values ...any) string {
	c.T.Helper()
	return c.Text(c.Submit(actAs, devnet.Command{TemplateID: template, CreateArguments: fmt.Appendf(nil, arguments, values...)}))
}

// Exercise exercises a choice with an argument in JSON, and returns the result.
func (c *Commands) Exercise(actAs []string, template, id, choice, argument string, values ...any) json.RawMessage {
	c.T.Helper()
	return c.Submit(actAs, devnet.Command{TemplateID: template, ContractID: id, Choice: choice, Argument: fmt.Appendf(nil, argument, values...)})
}

// Party adds a party to the node.
func (c *Commands) Party(hint string) string {
	c.T.Helper()
	a, err := c.Ledger.AllocateParty(c.T.Context(), hint, nil)
	if err != nil {
		c.T.Fatal(err)
	}
	return a.Party
}

// At is a time from now on, as values have it.
func (c *Commands) At(d time.Duration) string { return c.Ledger.Now().Add(d).Format(time.RFC3339Nano) }

// Install gives a party a wallet and returns its contract.
func (c *Commands) Install(party string) string {
	c.T.Helper()
	return c.Create([]string{party, c.Operator}, InstallTemplate,
		`{"dsoParty":%q,"validatorParty":%q,"endUserName":"u","endUserParty":%q}`, c.Ledger.GovernanceParty(), c.Operator, party)
}

// Batch executes operations in the wallet of a party, with the coins that are named, and
// returns the value of the last outcome.
func (c *Commands) Batch(install, party, inputs, operations string, values ...any) json.RawMessage {
	c.T.Helper()
	result := c.Exercise([]string{c.Operator, party}, InstallTemplate, install, "WalletAppInstall_ExecuteBatch",
		`{"context":%s,"inputs":%s,"operations":%s}`, c.Context(), inputs, fmt.Sprintf(operations, values...))
	var outcomes struct {
		Outcomes []struct {
			Tag   string
			Value json.RawMessage
		}
	}
	if err := json.Unmarshal(result, &outcomes); err != nil || len(outcomes.Outcomes) == 0 {
		c.T.Fatalf("%s: %v", result, err)
	}
	last := outcomes.Outcomes[len(outcomes.Outcomes)-1]
	if last.Tag == "COO_Error" {
		c.T.Fatalf("operation failed: %s", result)
	}
	return last.Value
}

// Tap gives a party a coin by its wallet, and returns it.
func (c *Commands) Tap(install, party, amount string) string {
	c.T.Helper()
	return c.Text(c.Batch(install, party, "[]", `[{"tag":"CO_Tap","value":{"tapAmount":%q}}]`, amount))
}

// CoinInput is a coin as the only input of a transfer, in JSON.
func CoinInput(id string) string { return fmt.Sprintf(`[{"tag":"InputAmulet","value":%q}]`, id) }

// Pass moves time.
func (c *Commands) Pass(d time.Duration) {
	c.T.Helper()
	if err := c.Ledger.AdvanceTime(c.T.Context(), d); err != nil {
		c.T.Fatal(err)
	}
}
