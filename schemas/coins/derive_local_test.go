package coins

import (
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// active says that the last event's coin is active on the node.
func (t *tree) active() { t.Events[len(t.Events)-1].Active = true }

func TestRulesOfNodes(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(t *tree)
		want  []string
	}{
		{"a transfer that is seen whole, to a party of another node", func(t *tree) {
			at := t.exercise(-1, template.CoinRulesTransfer, &Told{Round: 3, Summed: true})
			t.coin(at, Consumes, 1, "a", "10", false)
			t.active()
			t.coin(at, Creates, 2, "b", "4", false)
			t.coin(at, Creates, 3, "a", "5", false)
			t.active()
		}, []string{"0 a unlocked -1 burn fee transfer coins", "0 a unlocked -4 transfer b transfer coins"}},
		{"what a transfer that is not seen has left", func(t *tree) {
			t.coin(-1, Creates, 2, "a", "4", false)
			t.active()
		}, []string{"0 a unlocked 4 unexplained residual"}},
		{"a piece of a transfer that is not seen", func(t *tree) {
			t.coin(-1, Consumes, 2, "a", "4", false)
			t.active()
		}, []string{"0 a unlocked -4 unexplained residual"}},
		{"a transfer of a coin that was never seen, with its sender", func(t *tree) {
			at := t.exercise(-1, template.CoinRulesTransfer, &Told{Round: 3, Summed: true, Sender: "b"})
			t.Events = append(t.Events, Event{Node: 1, Parent: at, Choice: "Archive", ID: 1, Unclear: true})
			t.coin(at, Creates, 2, "a", "4", false)
			t.active()
		}, []string{"0 a unlocked 4 unexplained b residual"}},
		{"a choice of an unknown package around one that is known", func(t *tree) {
			outer := t.exercise(-1, "Own_Choice", nil)
			t.Events[outer].Unclear = true
			at := t.exercise(outer, template.TransferPreapprovalSend, &Told{Round: 3})
			t.coin(at, Consumes, 1, "a", "10", false)
			t.active()
			t.coin(at, Creates, 2, "b", "10", false)
			t.active()
		}, []string{"0 a unlocked -10 unexplained send residual", "0 b unlocked 10 unexplained send residual"}},
		{"a party of which the node has a part of the coins", func(t *tree) {
			at := t.exercise(-1, template.TransferFactoryTransfer, &Told{Round: -1, Sender: "b"})
			t.coin(at, Consumes, 1, "b", "10", false)
			t.coin(at, Creates, 2, "b", "7", true)
			t.active()
			t.coin(at, Creates, 3, "b", "3", false)
		}, []string{"0 b locked 7 unexplained transfer residual"}},
		{"a coin that comes and goes is nobody's movement", func(t *tree) {
			at := t.exercise(-1, template.CoinRulesBuyMemberTraffic, &Told{Paid: decimal.Must("6"), Round: 3})
			t.coin(at, Consumes, 1, "a", "10", false)
			t.active()
			t.coin(at, Creates, 2, "a", "6", false)
			t.coin(at, Creates, 3, "a", "4", false)
			t.active()
			t.coin(at, Consumes, 2, "a", "6", false)
		}, []string{"0 a unlocked -6 burn traffic traffic coins"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := new(tree)
			u.Local = true
			c.build(u)
			if got := u.lines(); !slices.Equal(got, c.want) {
				t.Errorf("the movements are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
