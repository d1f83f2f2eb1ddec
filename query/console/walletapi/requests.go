package walletapi

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// AppPayments are payments that apps ask the user for.
func (u *User) AppPayments(ctx context.Context) ([]Item, error) {
	return u.items(ctx, "/v0/wallet/app-payment-requests", "payment_requests", appPayment)
}

// AcceptedAppPayments wait for their apps to collect them.
func (u *User) AcceptedAppPayments(ctx context.Context) ([]Item, error) {
	return u.items(ctx, "/v0/wallet/accepted-app-payments", "accepted_app_payments", func(i *Item, c *listed) error {
		if err := appPayment(i, c); err != nil {
			return err
		}
		var p struct {
			Reference string `json:"reference"`
		}
		err := c.Contract.decode(&p)
		i.More = append(i.More, "For request", p.Reference)
		return err
	})
}

// appPayment tells the first receiver, and how many more there are.
func appPayment(i *Item, c *listed) error {
	if err := plain(i, c); err != nil {
		return err
	}
	var p struct {
		Provider  string `json:"provider"`
		Receivers []struct {
			Receiver string     `json:"receiver"`
			Amount   flexAmount `json:"amount"`
		} `json:"receiverAmounts"`
		Accepted []struct {
			Receiver string     `json:"receiver"`
			Amount   flexAmount `json:"amount"`
		} `json:"amuletReceiverAmounts"`
	}
	if err := c.Contract.decode(&p); err != nil {
		return err
	}
	receivers := append(p.Receivers, p.Accepted...)
	for n, r := range receivers {
		if n == 0 {
			i.To, i.Amount = r.Receiver, r.Amount.Amount
			continue
		}
		i.More = append(i.More, "Also to "+r.Receiver, r.Amount.Amount.String())
	}
	if p.Provider != i.To {
		i.More = append(i.More, "App", p.Provider)
	}
	return nil
}

// String is an amount with its unit.
func (a Amount) String() string {
	switch {
	case a.Amount == "":
		return ""
	case a.InDollars():
		return a.Amount + " USD"
	}
	return a.Amount + " coins"
}

// SubscriptionRequests are subscriptions that the user is asked to pay for.
func (u *User) SubscriptionRequests(ctx context.Context) ([]Item, error) {
	return u.items(ctx, "/v0/wallet/subscription-requests", "subscription_requests", subscription)
}

// FirstPayments of subscriptions wait to be collected.
func (u *User) FirstPayments(ctx context.Context) ([]Item, error) {
	return u.items(ctx, "/v0/wallet/subscription-initial-payments", "initial_payments", subscription)
}

type stretch struct {
	Micros string `json:"microseconds"`
}

// String is a stretch of time in words.
func (s stretch) String() string {
	n, err := strconv.ParseInt(s.Micros, 10, 64)
	if err != nil {
		return ""
	}
	d := time.Duration(n) * time.Microsecond
	if d >= 48*time.Hour {
		return strconv.FormatInt(int64(d/(24*time.Hour)), 10) + " days"
	}
	return d.Round(time.Second).String()
}

// subscription fills an item from what a subscription costs, and how often.
func subscription(i *Item, c *listed) error {
	var p struct {
		Data struct {
			Sender      string `json:"sender"`
			Receiver    string `json:"receiver"`
			Provider    string `json:"provider"`
			Description string `json:"description"`
		} `json:"subscriptionData"`
		Pay struct {
			Amount   flexAmount `json:"paymentAmount"`
			Interval stretch    `json:"paymentInterval"`
		} `json:"payData"`
	}
	if err := c.Contract.decode(&p); err != nil {
		return err
	}
	i.From, i.To, i.Text, i.Amount = p.Data.Sender, p.Data.Receiver, p.Data.Description, p.Pay.Amount.Amount
	if every := p.Pay.Interval.String(); every != "" {
		i.More = append(i.More, "Paid every", every)
	}
	return nil
}

// Subscriptions are those that run. The id of an item is that of its idle state, "" while it is paid for.
func (u *User) Subscriptions(ctx context.Context) ([]Item, error) {
	var answer struct {
		List []struct {
			Subscription Contract `json:"subscription"`
			State        struct {
				Idle    *Contract `json:"idle"`
				Payment *Contract `json:"payment"`
			} `json:"state"`
		} `json:"subscriptions"`
	}
	if err := u.call(ctx, "GET", "/v0/wallet/subscriptions", nil, &answer); err != nil {
		return nil, err
	}
	list := make([]Item, len(answer.List))
	for n, s := range answer.List {
		i := &list[n]
		if err := subscription(i, &listed{withState{Contract: s.Subscription}}); err != nil {
			return nil, err
		}
		i.Created = instant(s.Subscription.Created)
		state := s.State.Payment
		if s.State.Idle != nil {
			state, i.ID = s.State.Idle, s.State.Idle.ID
		}
		if state == nil {
			continue
		}
		var next struct {
			At string `json:"nextPaymentDueAt"`
		}
		if err := subscription(i, &listed{withState{Contract: *state}}); err != nil {
			return nil, err
		}
		if err := state.decode(&next); err != nil {
			return nil, err
		}
		i.Expires = instant(next.At)
	}
	return list, nil
}

// Name is a name of the user that a subscription pays for.
type Name struct {
	ID       string `json:"contractId"`
	Name     string `json:"name"`
	Amount   string `json:"amount"`
	Unit     string `json:"unit"`
	Expires  string `json:"expiresAt"`
	Interval string `json:"paymentInterval"`
}

// Until is when it expires.
func (n Name) Until() schemas.Micros { return instant(n.Expires) }

// Names lists them.
func (u *User) Names(ctx context.Context) ([]Name, error) {
	var answer struct {
		Entries []Name `json:"entries"`
	}
	err := u.call(ctx, "GET", "/v0/entry/all", nil, &answer)
	return answer.Entries, err
}

// RequestName asks for a name, and returns the request for the subscription that pays for it.
func (u *User) RequestName(ctx context.Context, name, url, description string) (subscription string, err error) {
	var answer struct {
		Request string `json:"subscriptionRequestCid"`
	}
	body := map[string]string{"name": name, "url": url, "description": description}
	return answer.Request, u.call(ctx, "POST", "/v0/entry/create", body, &answer)
}

// mintingPage is how many delegations are shown.
const mintingPage = "200"

// MintingProposals ask the user to collect rewards for others.
func (u *User) MintingProposals(ctx context.Context) ([]Item, error) {
	return u.items(ctx, "/v0/wallet/minting-delegation-proposals?limit="+mintingPage, "proposals", func(i *Item, c *listed) error {
		var p struct {
			Delegation delegation `json:"delegation"`
		}
		err := c.Contract.decode(&p)
		p.Delegation.fill(i, c)
		return err
	})
}

// MintingDelegations are those by which the user does.
func (u *User) MintingDelegations(ctx context.Context) ([]Item, error) {
	return u.items(ctx, "/v0/wallet/minting-delegations?limit="+mintingPage, "delegations", func(i *Item, c *listed) error {
		var p delegation
		err := c.Contract.decode(&p)
		p.fill(i, c)
		return err
	})
}

type delegation struct {
	Beneficiary string `json:"beneficiary"`
	Delegate    string `json:"delegate"`
	Expires     string `json:"expiresAt"`
	MergeLimit  string `json:"amuletMergeLimit"`
}

func (d delegation) fill(i *Item, c *listed) {
	i.From, i.To, i.Expires = d.Beneficiary, d.Delegate, instant(d.Expires)
	i.More = append(i.More, "Coins are merged down to", d.MergeLimit)
	if c.Hosted != nil && !*c.Hosted {
		i.More = append(i.More, "Hosted", "not by this node")
	}
}

// Coupon is a reward that the wallet can turn into coins.
type Coupon struct {
	ID, Kind, Amount, Round string
	Created                 schemas.Micros
}

// couponLists are the lists of coupons, by what they are for.
var couponLists = []struct{ path, member, kind string }{
	{"app-reward-coupons", "app_reward_coupons", "Activity of apps"},
	{"validator-reward-coupons", "validator_reward_coupons", "Activity of users"},
	{"validator-faucet-coupons", "validator_faucet_coupons", "Faucet of validators"},
	{"validator-liveness-activity-records", "validator_liveness_activity_records", "Liveness of the validator"},
	{"sv-reward-coupons", "sv_reward_coupons", "Super-validators"},
}

// Coupons lists up to 1,000 of each kind.
func (u *User) Coupons(ctx context.Context) ([]Coupon, error) {
	lists := make([][]Coupon, len(couponLists))
	group, ctx := guard.WithContext(ctx)
	for n, l := range couponLists {
		group.Go(func() (err error) {
			lists[n], err = u.coupons(ctx, "/v0/wallet/"+l.path, l.member, l.kind)
			return err
		})
	}
	err := group.Wait()
	return slices.Concat(lists...), err
}

// coupons lists those of one kind.
func (u *User) coupons(ctx context.Context, path, member, kind string) ([]Coupon, error) {
	contracts, err := u.list(ctx, path, member)
	if err != nil {
		return nil, err
	}
	coupons := make([]Coupon, len(contracts))
	for i := range contracts {
		c := &contracts[i].Contract
		var p struct {
			Amount string `json:"amount"`
			Weight string `json:"weight"`
			Round  struct {
				Number string `json:"number"`
			} `json:"round"`
		}
		if err := c.decode(&p); err != nil {
			return nil, err
		}
		coupons[i] = Coupon{ID: c.ID, Kind: kind, Amount: cmp.Or(p.Amount, p.Weight), Round: p.Round.Number, Created: instant(c.Created)}
	}
	return coupons, nil
}

// isSecond reports whether a template or interface is of the second version of the token standard.
func isSecond(template string) bool { return strings.Contains(template, "V2:") }
