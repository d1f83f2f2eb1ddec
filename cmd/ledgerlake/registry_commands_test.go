package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/devnet/devnettest"
)

// registryUser acts on a network with what our registry says that its choices need, as clients of the
// token standard do.
type registryUser struct {
	*devnettest.Commands
	ours string
	acts int
}

// registryContext is what the registry says of a choice.
type registryContext struct {
	Factory string           `json:"factoryId"`
	Inner   *registryContext `json:"choiceContext"`
	Data    json.RawMessage  `json:"choiceContextData"`
	// Disclosed are in the form in which commands have them.
	Disclosed json.RawMessage `json:"disclosedContracts"`
}

// ask asks our registry, which answers once it has seen the contract. Blobs that it lacks the first time
// come from the network with the whole answer; the second one is its own.
func (u *registryUser) ask(path, body string) (c registryContext) {
	u.T.Helper()
	var text []byte
	answers := 0
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var status int
		if status, text = answer(u.T, u.ours, "POST /registry"+path+" "+body); status == http.StatusOK {
			if answers++; answers < 2 {
				continue
			}
			c = parse[registryContext](u.T, text)
			if c.Inner != nil {
				c.Data, c.Disclosed = c.Inner.Data, c.Inner.Disclosed
			}
			return c
		}
	}
	u.T.Fatalf("%s: our registry says %s", path, text)
	return c
}

// act exercises a choice of the second version with a context of the registry; the argument has the
// members before the last ones.
func (u *registryUser) act(by, iface, id, choice string, c registryContext, argument string, values ...any) json.RawMessage {
	u.T.Helper()
	result, err := u.try(by, iface, id, choice, c, argument, values...)
	if err != nil {
		u.T.Fatalf("%s with the context %s: %v", choice, c.Data, err)
	}
	return result
}

func (u *registryUser) try(by, iface, id, choice string, c registryContext, argument string, values ...any) (json.RawMessage, error) {
	u.T.Helper()
	u.acts++
	all := fmt.Sprintf(`{%s"actors":[%q],"extraArgs":{"context":%s,"meta":{"values":{}}}}`, fmt.Sprintf(argument, values...), by, c.Data)
	s := parse[devnet.Submission](u.T, fmt.Appendf(nil, `{"commandId":"act-%d","actAs":[%q],"disclosedContracts":%s}`, u.acts, by, c.Disclosed))
	s.Commands = []devnet.Command{{TemplateID: iface, ContractID: id, Choice: choice, Argument: []byte(all)}}
	done, err := u.Ledger.Submit(u.T.Context(), s)
	if err != nil {
		return nil, err
	}
	return done.Results[0], nil
}

func accountOf(owner string) string {
	return fmt.Sprintf(`{"owner":%q,"provider":null,"id":""}`, owner)
}

// offer offers coins to a receiver and returns the instruction.
func (u *registryUser) offer(sender, receiver, coin string) string {
	u.T.Helper()
	transfer := fmt.Sprintf(`"transfer":{"sender":%s,"receiver":%s,"amount":"7","instrumentId":{"admin":%q,"id":"Amulet"},"requestedAt":%q,"executeBefore":%q,"inputHoldingCids":[%q],"meta":{"values":{}}}`,
		accountOf(sender), accountOf(receiver), u.Ledger.GovernanceParty(), u.At(0), u.At(time.Hour), coin)
	c := u.ask("/transfer-instruction/v2/transfer-factory", fmt.Sprintf(`{"choiceArguments":{%s,"actors":[%q],"extraArgs":%s}}`, transfer, sender, devnettest.NoExtraArgs))
	return u.Text(u.act(sender, devnettest.TransferFactoryV2, c.Factory, "TransferFactory_Transfer", c, "%s,", transfer), "output", "value", "transferInstructionCid")
}

// allocate allocates the side that an owner has of a leg between two parties and returns the contract.
func (u *registryUser) allocate(executor, owner, sender, receiver, coins string) string {
	u.T.Helper()
	side, other := "SenderSide", receiver
	if owner == receiver {
		side, other = "ReceiverSide", sender
	}
	arguments := fmt.Sprintf(`"settlement":%s,"allocation":{"admin":%q,"authorizer":%s,"transferLegSides":[{"transferLegId":"leg","side":%q,"otherside":%s,"amount":"3","instrumentId":"Amulet","meta":{"values":{}}}],
		"settlementDeadline":%q,"nextIterationFunding":null,"committed":false,"meta":{"values":{}}},"requestedAt":%q,"inputHoldingCids":[%s]`,
		settlementBy(executor), u.Ledger.GovernanceParty(), accountOf(owner), side, accountOf(other), u.At(time.Hour), u.At(0), coins)
	c := u.ask("/allocation-instruction/v2/allocation-factory", fmt.Sprintf(`{"choiceArguments":{%s,"actors":[%q],"extraArgs":%s}}`, arguments, owner, devnettest.NoExtraArgs))
	return u.Text(u.act(owner, devnettest.AllocationFactoryV2, c.Factory, "AllocationFactory_Allocate", c, "%s,", arguments), "output", "value", "allocationCid")
}

func settlementBy(executor string) string {
	return fmt.Sprintf(`{"executors":[%q],"id":"deal","cid":null,"meta":{"values":{}}}`, executor)
}

// TestRegistryV2ServesCommands puts what our registry says of choices of the second version of the token
// standard into commands: the network executes them with it.
func TestRegistryV2ServesCommands(t *testing.T) {
	t.Parallel()
	needEngine(t)
	ledger, err := devnet.New(t.Context(), devnet.Config{Updates: 300, Seed: 29, Days: 1, Dir: t.TempDir(), Node: &devnet.NodeConfig{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	network := httptest.NewServer(ledger.Handler())
	t.Cleanup(network.Close)
	u := &registryUser{Commands: devnettest.New(t, ledger)}
	alice, bob, venue := u.Party("alice"), u.Party("bob"), u.Party("venue")
	install := u.Install(alice)
	up := start(t, "up", "--data", t.TempDir(), "--scan-url", network.URL, "--listen", "127.0.0.1:0", "--follow-interval", "50ms")
	u.ours = waitForURL(t, up)
	coin := func() string { return u.Tap(install, alice, "20") }

	for _, c := range []struct{ by, choice, path string }{
		{bob, "TransferInstruction_Accept", "accept"}, {bob, "TransferInstruction_Reject", "reject"}, {alice, "TransferInstruction_Withdraw", "withdraw"},
	} {
		id := u.offer(alice, bob, coin())
		needs := u.ask("/transfer-instruction/v2/"+id+"/choice-contexts/"+c.path, `{"meta":{}}`)
		u.act(c.by, devnettest.TransferInstructionV2, id, c.choice, needs, "")
	}
	for _, c := range []struct{ by, choice, path string }{
		{venue, "Allocation_Cancel", "cancel"}, {alice, "Allocation_Withdraw", "withdraw"},
	} {
		id := u.allocate(venue, alice, alice, bob, fmt.Sprintf("%q", coin()))
		needs := u.ask("/allocations/v2/"+id+"/choice-contexts/"+c.path, `{"meta":{}}`)
		u.act(c.by, devnettest.AllocationV2, id, c.choice, needs, "")
	}
	sends, receives := u.allocate(venue, alice, alice, bob, fmt.Sprintf("%q", coin())), u.allocate(venue, bob, alice, bob, "")
	leg := fmt.Sprintf(`{"transferLegId":"leg","sender":%s,"receiver":%s,"amount":"3","instrumentId":"Amulet","meta":{"values":{}}}`, accountOf(alice), accountOf(bob))
	settle := fmt.Sprintf(`"settlement":%s,"transferLegs":[%s],"allocations":[{"allocationCid":%q,"extraTransferLegSides":[],"nextIterationFunding":null},{"allocationCid":%q,"extraTransferLegSides":[],"nextIterationFunding":null}]`,
		settlementBy(venue), leg, sends, receives)
	needs := u.ask("/allocation/v2/settlement-factory", fmt.Sprintf(`{"choiceArguments":{%s,"actors":[%q],"extraArgs":%s}}`, settle, venue, devnettest.NoExtraArgs))
	forged := needs
	forged.Disclosed = []byte(strings.Replace(string(needs.Disclosed), `"createdEventBlob":"`, `"createdEventBlob":"AAAA`, 1))
	if _, err := u.try(venue, devnettest.SettlementFactoryV2, needs.Factory, "SettlementFactory_SettleBatch", forged, "%s,", settle); err == nil {
		t.Error("a settlement with a disclosed contract that does not match its blob is executed")
	}
	u.act(venue, devnettest.SettlementFactoryV2, needs.Factory, "SettlementFactory_SettleBatch", needs, "%s,", settle)
}
