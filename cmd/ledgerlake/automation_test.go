package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/node"
	automations "github.com/ledgerlake/ledgerlake/jobs/wallet"
)

func TestAutomationSaysWhatItWouldDo(t *testing.T) {
	t.Parallel()
	ledger := nodeLedger(t, 300)
	nodeURL := servedNode(t, ledger, devnet.NodeOptions{})
	scan := httptest.NewServer(ledger.Handler())
	t.Cleanup(scan.Close)
	installOperator(t, ledger, nodeURL)
	store := append(ownStore(t), "--scan-url", scan.URL, "--node-url", nodeURL)
	mustRun(t, append(store, "ingest", "--once")...)
	settings := append(store, "--validator-user", "operator", "--wallet-top-up", "1000")

	var steps []automations.Step
	decoder := json.NewDecoder(bytes.NewReader(mustRun(t, append([]string{"automation", "--dry-run", "--json"}, settings...)...)))
	for decoder.More() {
		var step automations.Step
		if err := decoder.Decode(&step); err != nil {
			t.Fatal(err)
		}
		if step.Automation == "" || step.What == "" || step.Why == "" {
			t.Errorf("%+v does not say what and why", step)
		}
		steps = append(steps, step)
	}
	for _, want := range []string{"record-liveness", "collect-rewards", "top-up"} {
		if !slices.ContainsFunc(steps, func(s automations.Step) bool { return s.Automation == want }) {
			t.Errorf("the plan has nothing of %s: %+v", want, steps)
		}
	}
	text := string(mustRun(t, append([]string{"automation", "collect-rewards", "--dry-run"}, settings...)...))
	if !strings.HasPrefix(text, "collect-rewards (operator): would ") || !strings.Contains(text, ", because ") || strings.Count(text, "\n") != 1 {
		t.Errorf("the plan reads %q", text)
	}
	end := ledger.NodeDigests().LedgerEnd
	if text := string(mustRun(t, append([]string{"automation", "expire"}, settings...)...)); text != "expire: 0 done\n" {
		t.Errorf("the run says %q", text)
	}
	if after := ledger.NodeDigests().LedgerEnd; after != end {
		t.Error("a plan, or a run with nothing to do, has changed the ledger")
	}
}

// installOperator gives the operator of a simulated node a user and a wallet.
func installOperator(t *testing.T, ledger *devnet.Ledger, nodeURL string) {
	t.Helper()
	client, err := node.New(node.Config{BaseURL: nodeURL, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	party := strings.TrimPrefix(ledger.NodeDigests().ParticipantID, "participant-")
	if err := client.CreateUser(t.Context(), node.User{ID: "operator", PrimaryParty: party}, []node.Right{{Kind: node.CanActAs, Party: party}}); err != nil {
		t.Fatal(err)
	}
	install := node.Create("#splice-wallet:Splice.Wallet.Install:WalletAppInstall", map[string]string{
		"dsoParty": ledger.GovernanceParty(), "validatorParty": party, "endUserName": "operator", "endUserParty": party,
	})
	if _, err := client.Submit(t.Context(), node.Submission{ActAs: []string{party}, Commands: []node.Command{install}}); err != nil {
		t.Fatal(err)
	}
}
