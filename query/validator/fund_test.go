package validator

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
)

// fundAnswer is a coupon that was given away, or taken back.
type fundAnswer struct {
	Coupon string `json:"development_fund_coupon_contract_id"`
	Rest   string `json:"unclaimed_development_fund_coupon_contract_id"`
}

// developmentFund has the manager of the fund give coupons away, of which one is minted and one is
// taken back. On this network a coupon waits for 10 minutes.
func (r *reality) developmentFund(t *testing.T) {
	manager := &person{"manager", r.Ledger.Names.Name(r.Ledger.Executor.Fund.FundManager())}
	r.must(t, realOperator, "POST", "/v0/admin/users", fmt.Sprintf(`{"name":"manager","party_id":%q}`, manager.party), nil)
	fay, other := r.register(t, "fay", "1"), r.register(t, "otto", "")
	now := r.Ledger.Now()
	body := func(amount string, expires, mintAfter time.Duration) string {
		text := fmt.Sprintf(`{"beneficiary":%q,"amount":%q,"expiresAt":%d,"reason":"a grant"`, fay.party, amount, now.Add(expires).UnixMicro())
		if mintAfter != 0 {
			text += fmt.Sprintf(`,"mintAfter":%d`, now.Add(mintAfter).UnixMicro())
		}
		return text + "}"
	}
	allocate := fundPath + "/allocate"
	good := body("0.5", 10*time.Hour, 20*time.Minute)
	r.refuse(t, []*person{manager, fay}, []badRequest{
		{"somebody else's fund", fay.user, allocate, good, 400, "manager"},
		{"more than there is", manager.user, allocate, body("900000000", 10*time.Hour, 20*time.Minute), 400, "less than"},
		{"an expiry that has passed", manager.user, allocate, body("0.5", -time.Hour, 0), 400, "expiresAt"},
		{"a time to mint that has passed", manager.user, allocate, body("0.5", time.Hour, -time.Hour), 400, "mintAfter"},
		{"a time to mint after the expiry", manager.user, allocate, body("0.5", time.Hour, 2*time.Hour), 400, "mintAfter"},
		{"no time to mint", manager.user, allocate, body("0.5", time.Hour, 0), 400, "mintAfter"},
		{"too early a time to mint", manager.user, allocate, body("0.5", time.Hour, 5*time.Minute), 400, "mintAfter"},
		{"a stranger", manager.user, allocate, strings.Replace(good, fay.party, stranger, 1), 400, ""},
	})
	first := r.as(manager.user, "POST", allocate, good)
	minted := decoded[fundAnswer](t, first)
	r.wants(r.as(manager.user, "POST", allocate, good), 200, first.body)
	withdrawn := decoded[fundAnswer](t, r.as(manager.user, "POST", allocate, body("0.25", 10*time.Hour, 20*time.Minute)))
	for p, want := range map[*person]int{manager: 2, fay: 2, other: 0} {
		if a := r.as(p.user, "GET", fundPath, ""); strings.Count(a.body, `"contract_id"`) != want {
			t.Errorf("%s sees %s, want %d coupons", p.user, a.body, want)
		}
	}
	withdraw := fundPath + "/" + withdrawn.Coupon + "/withdraw"
	r.refuse(t, []*person{manager, fay}, []badRequest{
		{"taking back what one was given", fay.user, withdraw, `{"reason":"no"}`, 404, ""},
		{"taking back what one does not see", other.user, withdraw, `{"reason":"no"}`, 404, ""},
	})
	if back := decoded[fundAnswer](t, r.as(manager.user, "POST", withdraw, `{"reason":"no longer"}`)); back.Rest == "" {
		t.Error("nothing came back to the fund")
	}
	merge := func() error {
		_, err := r.Wallet.Coins.Merge(t.Context(), wallet.Actor{User: fay.user, Party: fay.party}, false)
		return err
	}
	if err := merge(); !wallet.IsIdle(err) {
		t.Errorf("a coupon that cannot be minted yet is merged: %v", err)
	}
	r.Advance(21 * time.Minute)
	if err := merge(); err != nil {
		t.Errorf("a coupon that can be minted: %v", err)
	}
	r.fundHistory(t, manager, "withdrawn", "claimed")
	r.fundHistory(t, fay, "withdrawn", "claimed")
	r.fundHistory(t, other)
	r.wants(r.as(manager.user, "POST", fundPath+"/"+minted.Coupon+"/withdraw", `{"reason":"late"}`), 404, "")
}

// fundHistory reads the coupons of somebody that have ended, one at a time, which were given the
// states of some, the oldest first.
func (r *reality) fundHistory(t *testing.T, p *person, want ...string) {
	t.Helper()
	after := ""
	for i := len(want) - 1; i >= -1; i-- {
		page := decoded[struct {
			Rows []fundRow `json:"development_fund_coupon_history"`
			Next *int64    `json:"next_page_token"`
		}](t, r.as(p.user, "GET", fundPath+"/history?limit=1"+after, ""))
		if i < 0 {
			if len(page.Rows) > 0 || page.Next != nil {
				t.Errorf("behind the history of %s is %+v", p.user, page)
			}
			return
		}
		if len(page.Rows) != 1 || page.Next == nil || page.Rows[0].Status != want[i] || page.Rows[0].Reason != "a grant" ||
			page.Rows[0].ArchivedAt <= page.Rows[0].CreatedAt || (page.Rows[0].EndReason != nil) != (want[i] == "withdrawn") {
			t.Fatalf("entry %d of the history of %s is %+v, want %s", i, p.user, page, want[i])
		}
		after = fmt.Sprintf("&after=%d", *page.Next)
	}
}
