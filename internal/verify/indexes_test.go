package verify_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// forgetful is a reader whose indexes lead nowhere, while everything is there.
type forgetful struct{ *history.Reader }

func (forgetful) ItemsByID(context.Context, []string) (map[string]schemas.Item, error) {
	return nil, nil
}
func (forgetful) UpdateIDByHash(context.Context, string) (string, bool, error) {
	return "", false, nil
}
func (forgetful) ContractHistory(context.Context, history.ContractQuery) ([]history.ContractStep, error) {
	return nil, nil
}

// forgetfulNode is forgetful of a node's own stream.
type forgetfulNode struct{ verify.Node }

func (forgetfulNode) LedgerUpdateByID(context.Context, string) (*schemas.Update, error) {
	return nil, nil
}
func (forgetfulNode) ContractEvents(context.Context, string) (created, ended *nodehistory.Event, err error) {
	return nil, nil, nil
}

// What history has is found by its ids, and an index that does not lead to it is a finding.
func TestHistoryIsFoundByIDs(t *testing.T) {
	_, items := network(t, devnet.Config{Updates: 700, Seed: 6, Days: 4})
	public, ofNode := newFixture(t), newFixture(t)
	public.write(t, items, 120)
	ofNode.ingestNode(t, startNode(t, 300, "validator-2", false))
	for name, f := range map[string]*fixture{"public": public, "node": ofNode} {
		t.Run(name, func(t *testing.T) {
			cfg := verify.Config{Checks: []string{verify.Indexes}}
			honest := f.verify(t, cfg)
			if n := honest.Checks[0].Checked; !sound(honest) || n["update ids"] < 5 || n["contract ids"] < 5 {
				t.Errorf("looked up %v\n%s", n, findings(honest))
			}
			f.setReaders(&cfg)
			cfg.Public, cfg.Node, cfg.Audit = forgetful{f.reader}, forgetfulNode{cfg.Node}, audit.NewQueries(f.Conn, f.stream)
			r, err := verify.Run(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			c := r.Checks[0]
			if want := honest.Checks[0].Checked; c.Total < want["update ids"]+want["contract ids"] || !strings.Contains(findings(r), "not found by its id") {
				t.Errorf("%d findings after %v lookups, want one for each:\n%s", c.Total, want, findings(r))
			}
		})
	}
}
