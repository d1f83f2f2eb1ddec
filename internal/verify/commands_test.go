package verify_test

import (
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/devnettest"
	"github.com/ledgerlake/ledgerlake/internal/verify"
)

// TestCommandsHaveNoFindings verifies a history with commands, as the network has it and as
// the node has it.
func TestCommandsHaveNoFindings(t *testing.T) {
	n := startNode(t, 300, "", false)
	devnettest.New(t, n.ledger).Live()
	public := newFixture(t)
	public.write(t, served(t, n.ledger), 150)
	r := public.verify(t, verify.Config{})
	if !sound(r) {
		t.Errorf("the public history:\n%s", findings(r))
	}
	if got, want := r.Supply, n.ledger.Supply(); got.Burned.String() != want.Burned || got.Circulating.String() != want.Circulating || got.Unexplained.String() != "0.0000000000" {
		t.Errorf("supply is %+v, the network has %+v", got, want)
	}
	f := newFixture(t)
	f.ingestNode(t, n)
	if r := f.verify(t, verify.Config{}); !sound(r) {
		t.Errorf("the node's stream:\n%s", findings(r))
	}
}
