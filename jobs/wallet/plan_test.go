package wallet

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

var now = time.Date(2026, 7, 5, 10, 0, 0, 0, time.UTC)

func inputs(n int, amount int64) []wallet.Input {
	list := make([]wallet.Input, n)
	for i := range list {
		list[i] = wallet.Input{Tag: "InputAmulet", ContractID: string(rune('a' + i)), Amount: decimal.FromInt(amount)}
	}
	return list
}

func TestMergeStep(t *testing.T) {
	cases := []struct {
		name       string
		f          wallet.Funds
		cost       string
		do, urgent bool
		why        string
	}{
		{"nothing", wallet.Funds{}, "0", false, false, "no rewards"},
		{"one coin", wallet.Funds{Coins: inputs(1, 5)}, "100", false, false, "at most one coin"},
		{"several coins", wallet.Funds{Coins: inputs(3, 5)}, "10", true, false, "several coins"},
		{"rewards", wallet.Funds{Coins: inputs(1, 5), Rewards: inputs(2, 1)}, "0", true, false, "rewards"},
		{"rewards, and no money for a top-up", wallet.Funds{Coins: inputs(1, 5), Rewards: inputs(2, 1)}, "6", true, true, "do not cover a top-up"},
	}
	for _, c := range cases {
		step, urgent := mergeStep(&c.f, decimal.Must(c.cost))
		if step.Do != c.do || urgent != c.urgent || !strings.Contains(step.Why, c.why) {
			t.Errorf("%s: %+v, urgent %v, want do=%v urgent=%v because %q", c.name, step, urgent, c.do, c.urgent, c.why)
		}
	}
}

func TestPurchases(t *testing.T) {
	cases := []struct {
		name     string
		rule     TopUpRule
		minimum  int64
		poll     time.Duration
		bytes    int64
		interval time.Duration
	}{
		{"a multiple of the poll", TopUpRule{1000, 10 * time.Minute}, 200_000, 30 * time.Second, 600_000, 10 * time.Minute},
		{"rounded up", TopUpRule{1000, 601 * time.Second}, 200_000, 30 * time.Second, 630_000, 630 * time.Second},
		{"less than is sold", TopUpRule{10, 10 * time.Minute}, 200_000, 30 * time.Second, 200_100, 20_010 * time.Second},
		{"exactly what is sold", TopUpRule{100, 2000 * time.Second}, 200_000, 20 * time.Second, 200_000, 2000 * time.Second},
		{"a fraction of a byte", TopUpRule{0.7, time.Minute}, 0, 30 * time.Second, 42, time.Minute},
	}
	for _, c := range cases {
		if got := c.rule.purchase(c.minimum, c.poll); got.Bytes != c.bytes || got.Interval != c.interval {
			t.Errorf("%s: %+v, want %d every %s", c.name, got, c.bytes, c.interval)
		}
	}
	for _, wrong := range []TopUpRule{{1000, 10 * time.Second}, {1000, 0}} {
		if wrong.check(30*time.Second) == nil {
			t.Errorf("%+v passes", wrong)
		}
	}
	if err := (TopUpRule{}).check(time.Hour); err != nil {
		t.Errorf("no top-ups: %v", err)
	}
}

func TestTopUpStep(t *testing.T) {
	p := purchase{Bytes: 600_000, Interval: 10 * time.Minute}
	good := topUpState{at: now, remaining: 1000, balance: decimal.FromInt(100), cost: decimal.FromInt(100)}
	cases := []struct {
		name   string
		change func(*topUpState)
		do     bool
		why    string
	}{
		{"little is left", func(*topUpState) {}, true, "1000 bytes are left"},
		{"enough is left", func(s *topUpState) { s.remaining = 600_000 }, false, "enough"},
		{"one byte too few", func(s *topUpState) { s.remaining = 599_999 }, true, "are left"},
		{"no money", func(s *topUpState) { s.balance = decimal.Must("99.9999999999") }, false, "too little"},
		{"no money on a development network", func(s *topUpState) { s.balance, s.devNet = decimal.Decimal{}, true }, true, ""},
		{"bought lately", func(s *topUpState) { s.last = &wallet.TopUpState{LastPurchased: now.Add(-599 * time.Second)} }, false, "less than"},
		{"bought long ago", func(s *topUpState) { s.last = &wallet.TopUpState{LastPurchased: now.Add(-600 * time.Second)} }, true, ""},
	}
	for _, c := range cases {
		s := good
		c.change(&s)
		if step := topUpStep(p, s); step.Do != c.do || !strings.Contains(step.Why, c.why) {
			t.Errorf("%s: %+v, want do=%v because %q", c.name, step, c.do, c.why)
		}
	}
}

// done lists the contracts that are acted upon.
func done(steps []contractStep) (ids []string) {
	for _, s := range steps {
		if s.Do {
			ids = append(ids, s.id)
		}
	}
	return ids
}

func TestOfferSteps(t *testing.T) {
	later := now.Add(time.Minute)
	offers := []wallet.Offer{
		{ID: "trusted", Sender: "ann", Receiver: "me", ExpiresAt: later},
		{ID: "stranger", Sender: "eve", Receiver: "me", ExpiresAt: later},
		{ID: "expired", Sender: "ann", Receiver: "me", ExpiresAt: now},
		{ID: "mine", Sender: "me", Receiver: "ann", ExpiresAt: later},
		{ID: "mine, expired", Sender: "me", Receiver: "ann", ExpiresAt: now.Add(-1)},
	}
	if got := done(acceptSteps(offers, "me", []string{"ann", "bob"}, now)); !slices.Equal(got, []string{"trusted"}) {
		t.Errorf("accepted are %q", got)
	}
	if got := done(completeSteps(offers, "me", now)); !slices.Equal(got, []string{"mine"}) {
		t.Errorf("paid are %q", got)
	}
	for _, steps := range [][]contractStep{acceptSteps(offers, "me", nil, now), completeSteps(offers, "me", now)} {
		for _, s := range steps {
			if s.What == "" || s.Why == "" {
				t.Errorf("%+v does not say what and why", s)
			}
		}
	}
}

func TestExpiredOffers(t *testing.T) {
	offers := []wallet.Offer{
		{ID: "good", Sender: "me", TrackingID: "t1", ExpiresAt: now.Add(1)}, {ID: "expired", Sender: "me", TrackingID: "t2", ExpiresAt: now},
		{ID: "another's", Sender: "ann", TrackingID: "t3", ExpiresAt: now},
	}
	steps := (&Automations{}).expiredOffers(wallet.Actor{Party: "me"}, offers, now, nil)
	if len(steps) != 1 || !steps[0].Do || steps[0].What != "end offer t2" || !strings.Contains(steps[0].Why, "2026-07-05T10:00:00Z") {
		t.Errorf("ended are %+v", steps)
	}
}

func TestTrafficSteps(t *testing.T) {
	requests := []wallet.OpenTrafficRequest{
		{ID: "good", User: "me", ExpiresAt: now.Add(1)}, {ID: "expired", User: "me", ExpiresAt: now}, {ID: "another's", User: "ann", ExpiresAt: now.Add(1)},
	}
	if got := done(trafficSteps(requests, "me", now)); !slices.Equal(got, []string{"good"}) {
		t.Errorf("bought are %q", got)
	}
}

func TestPreapprovalSteps(t *testing.T) {
	hosted := map[string]bool{"ann": true, "bob": true, "eve": true, "zoe": false}
	proposals := []wallet.Preapproval{{ID: "ann", Receiver: "ann"}, {ID: "ann again", Receiver: "ann"}, {ID: "bob", Receiver: "bob"}, {ID: "zoe", Receiver: "zoe"}, {ID: "eve", Receiver: "eve"}}
	have := []wallet.Preapproval{{Receiver: "bob", ExpiresAt: now.Add(time.Hour)}, {Receiver: "eve", ExpiresAt: now}}
	if got := done(proposalSteps(proposals, have, hosted, now)); !slices.Equal(got, []string{"ann", "eve"}) {
		t.Errorf("accepted are %q", got)
	}
	day := 24 * time.Hour
	for left, want := range map[time.Duration]bool{31 * day: false, 30 * day: true, day: true, 0: false, -day: false} {
		step := renewalStep(wallet.Preapproval{Receiver: "ann", ExpiresAt: now.Add(left)}, now, 30*day, 90*day)
		if step.Do != want || step.Why == "" {
			t.Errorf("%s before its expiry: %+v, want %v", left, step, want)
		}
	}
}

func TestSweepStep(t *testing.T) {
	s := Sweep{Sender: "me", Receiver: "vault", Above: decimal.FromInt(100), Keep: decimal.FromInt(20)}
	cases := []struct{ name, coins, outstanding, price, want string }{
		{"too little", "1000", "0", "0.1", ""},
		{"just too much", "1000.01", "0", "0.1", "800.0100000000"},
		{"much of it on its way", "2000", "150", "0.1", ""},
		{"some of it on its way", "2000", "50", "0.1", "1300.0000000000"},
		{"a rough price", "1000", "0", "0.3", "933.3333333333"},
	}
	for _, c := range cases {
		step, amount := sweepStep(s, decimal.Must(c.coins), decimal.Must(c.outstanding), decimal.Must(c.price))
		if step.Do != (c.want != "") || step.Do && amount.String() != c.want {
			t.Errorf("%s: %+v of %s, want %q", c.name, step, amount, c.want)
		}
	}
	for _, wrong := range []Sweep{{}, {Sender: "a", Receiver: "a"}, {Sender: "a", Receiver: "b", Keep: decimal.FromInt(1)}} {
		if wrong.check() == nil {
			t.Errorf("%+v passes", wrong)
		}
	}
}

func TestMintingStep(t *testing.T) {
	d := wallet.Delegation{Beneficiary: "ext", MergeLimit: 3}
	cases := []struct {
		name         string
		f            wallet.Funds
		limit, n, do int
	}{
		{"nothing", wallet.Funds{}, 100, 0, 0},
		{"few coins", wallet.Funds{Coins: inputs(5, 1)}, 100, 0, 0},
		{"twice the limit", wallet.Funds{Coins: inputs(6, 1)}, 100, 4, 1},
		{"rewards only", wallet.Funds{Coins: inputs(5, 1), Rewards: inputs(2, 1), Grants: inputs(1, 1)}, 100, 3, 1},
		{"rewards and coins", wallet.Funds{Coins: inputs(8, 1), Rewards: inputs(2, 1)}, 100, 8, 1},
		{"too many inputs", wallet.Funds{Coins: inputs(8, 1), Rewards: inputs(2, 1)}, 5, 5, 1},
	}
	for _, c := range cases {
		step, got := mintingStep(d, &c.f, c.limit)
		if len(got) != c.n || step.Do != (c.do == 1) || step.Why == "" {
			t.Errorf("%s: %+v with %d inputs, want %d", c.name, step, len(got), c.n)
		}
	}
	_, got := mintingStep(d, &wallet.Funds{Coins: inputs(6, 1)}, 100)
	if got[0].ContractID != "f" || got[3].ContractID != "c" {
		t.Errorf("merged are %+v, want the last coins, which are the smallest", got)
	}
}

func TestLivenessStep(t *testing.T) {
	m := &wallet.Market{}
	if step, _ := livenessStep(m, nil); step.Do || !strings.Contains(step.Why, "no validator license") {
		t.Errorf("without license: %+v", step)
	}
	if step, _ := livenessStep(m, &wallet.License{LastReceived: 5}); step.Do {
		t.Errorf("without a round: %+v", step)
	}
	zero := decimal.Decimal{}
	m.Schedule.Initial.Issuance.Initial.FaucetCap = &zero
	if step, _ := livenessStep(m, &wallet.License{LastReceived: 5}); step.Do || !strings.Contains(step.Why, "pays nothing") {
		t.Errorf("without a reward: %+v", step)
	}
}

func TestMergeProposalSteps(t *testing.T) {
	proposals := []wallet.MergeDelegation{{ID: "ann", Owner: "ann"}, {ID: "bob", Owner: "bob"}, {ID: "ann again", Owner: "ann"}}
	if got := done(mergeProposalSteps(proposals, []wallet.MergeDelegation{{Owner: "bob"}})); !slices.Equal(got, []string{"ann"}) {
		t.Errorf("accepted are %q", got)
	}
}

func TestSchedule(t *testing.T) {
	clock := now
	a := &Automations{cfg: Config{Now: func() time.Time { return clock }}, next: map[string]time.Time{}, list: []automation{
		{name: "fast", every: 30 * time.Second, jitter: 0.2}, {name: "slow", every: 5 * time.Minute, jitter: 0.5},
	}}
	runs := map[string]int{}
	for range 600 {
		for _, task := range a.due() {
			runs[task.Payload.(string)]++
			if task.ID != "wallet:"+task.Payload.(string) {
				t.Errorf("task %+v", task)
			}
		}
		clock = clock.Add(time.Second)
	}
	// 600 s are 20 runs of 27 s to 33 s, and 2 to 3 of 225 s to 375 s, and the first at once.
	if runs["fast"] < 18 || runs["fast"] > 23 || runs["slow"] < 2 || runs["slow"] > 4 {
		t.Errorf("in 10 minutes they ran %v times", runs)
	}
}

func TestUnknownNames(t *testing.T) {
	c := Config{Only: []string{"collect-rewards", "no-such"}}
	if err := c.check(); err == nil || !strings.Contains(err.Error(), "no-such") {
		t.Errorf("the error is %v", err)
	}
}

// Every automation has a row in docs/operations.md, and there are no other rows.
func TestAutomationsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "\n## Automations of wallets\n")
	if !ok {
		t.Fatal("docs/operations.md has no section on automations")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	for _, name := range Names() {
		if row := "\n| `" + name + "` | "; !strings.Contains(text, row) {
			t.Errorf("docs/operations.md lacks the row %s", strings.TrimSpace(row))
		}
	}
	if rows := strings.Count(text, "\n| `"); rows != len(Names()) {
		t.Errorf("docs/operations.md has %d automations, and there are %d", rows, len(Names()))
	}
}

func TestSubscriptionSteps(t *testing.T) {
	open := func(id, amount, unit string, due time.Duration) wallet.Subscription {
		return wallet.Subscription{ID: id, Amount: decimal.Must(amount), Unit: unit, Description: id, Open: now.Add(due - time.Hour), Due: now.Add(due)}
	}
	steps := subscriptionSteps([]wallet.Subscription{
		open("late", "1", "USDUnit", -time.Minute), open("early", "1", "USDUnit", 2*time.Hour), open("dear", "7", "AmuletUnit", time.Minute),
		open("exact", "3", "USDUnit", time.Hour), open("no more", "0.1", "AmuletUnit", 0),
	}, decimal.FromInt(8), decimal.Must("0.5"), now)
	for i, want := range []struct {
		do  bool
		why string
	}{{true, "it is due at 2026-07-05T09:59:00Z"}, {false, "from 2026-07-05T11:00:00Z on"}, {false, "only 6.0000000000 CC"}, {true, "it is due at"}, {false, "only 0.0000000000 CC"}} {
		if got := steps[i]; got.Do != want.do || !strings.Contains(got.Why, want.why) {
			t.Errorf("%s: %+v, want do=%v because %q", got.id, got.Step, want.do, want.why)
		}
	}
}
