package wallet

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Traffic buys traffic, for users who ask for it and for the operator's own node.
type Traffic struct {
	*submitter
	tracking *tracker
	network  *Network
	coins    *Coins
}

// OpenTrafficRequest is a BuyTrafficRequest.
type OpenTrafficRequest struct {
	ID, User, TrackingID string
	Member               string // for whom the traffic is
	ExpiresAt            time.Time
}

// Requests are those of some parties, oldest first.
func (w *Traffic) Requests(ctx context.Context, parties ...string) ([]OpenTrafficRequest, error) {
	return listed(ctx, w.reader, ContractQuery{Parties: parties, Templates: []string{template.BuyTrafficRequest}}, func(c *Contract, p *trafficRequestPayload) (OpenTrafficRequest, bool) {
		return OpenTrafficRequest{ID: c.ID, User: p.User, TrackingID: p.TrackingID, Member: p.Member, ExpiresAt: p.ExpiresAt}, true
	})
}

// TopUpState is a ValidatorTopUpState of the operator.
type TopUpState struct {
	ID            string
	LastPurchased time.Time
}

// TopUpState returns when traffic for a member was last bought; nil if never.
func (w *Traffic) TopUpState(ctx context.Context, member, synchronizer string) (*TopUpState, error) {
	type payload struct {
		Validator     string    `json:"validator"`
		Member        string    `json:"memberId"`
		Synchronizer  string    `json:"synchronizerId"`
		LastPurchased time.Time `json:"lastPurchasedAt"`
	}
	list, err := listed(ctx, w.reader, ContractQuery{Parties: []string{w.operator}, Templates: []string{template.ValidatorTopUpState}, Key: member}, func(c *Contract, p *payload) (TopUpState, bool) {
		return TopUpState{c.ID, p.LastPurchased}, p.Validator == w.operator && p.Member == member && p.Synchronizer == synchronizer
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[len(list)-1], nil
}

// TrafficRequest asks for traffic of the node that hosts a party.
type TrafficRequest struct {
	// ReceivingParty is a party of the node to buy for; it must be hosted on one node only.
	ReceivingParty string
	SynchronizerID string
	Bytes          int64
	ExpiresAt      time.Time
	TrackingID     string
}

func (r *TrafficRequest) check(at time.Time) error {
	switch {
	case r.TrackingID == "":
		return invalid("tracking_id must not be empty")
	case r.Bytes <= 0:
		return invalid("traffic_amount must be positive, not %d", r.Bytes)
	case r.SynchronizerID == "":
		return invalid("domain_id must not be empty")
	case !r.ExpiresAt.After(at):
		return invalid("expires_at must be in the future, not %s", timestamp(r.ExpiresAt))
	}
	return checkParty(r.ReceivingParty)
}

// Request creates a BuyTrafficRequest, the contract of the result, which the
// automation of the actor's validator completes. Tracking ids are as in Offers.Create.
func (w *Traffic) Request(ctx context.Context, actor Actor, r TrafficRequest) (done Done, err error) {
	at, err := w.network.Now(ctx)
	if err != nil {
		return done, err
	}
	if err := r.check(at); err != nil {
		return done, err
	}
	member, err := w.memberOf(ctx, r.SynchronizerID, r.ReceivingParty)
	if err != nil {
		return done, err
	}
	migration, err := w.network.public.MigrationID(ctx)
	if err != nil {
		return done, err
	}
	const choice = "WalletAppInstall_CreateBuyTrafficRequest"
	install, err := w.install(ctx, actor)
	if err != nil {
		return done, err
	}
	argument := map[string]any{
		"memberId": member, "synchronizerId": r.SynchronizerID, "migrationId": strconv.FormatInt(migration, 10),
		"trafficAmount": strconv.FormatInt(r.Bytes, 10), "expiresAt": timestamp(r.ExpiresAt), "trackingId": r.TrackingID,
	}
	known := func(ctx context.Context) (bool, error) {
		return w.reader.TrafficTracked(ctx, actor.Party, r.TrackingID)
	}
	err = w.tracking.once(ctx, "buy-traffic", actor.Party, r.TrackingID, known, func(a attempt) error {
		done, err = w.submitFor(ctx, w.onInstall(actor, install, a, choice, argument), choice, "buyTrafficRequest")
		return err
	})
	return done, err
}

// memberOf returns the one participant that hosts a party.
func (w *Traffic) memberOf(ctx context.Context, synchronizer, party string) (string, error) {
	hosts, err := w.network.public.Hosts(ctx, synchronizer, party)
	switch {
	case err != nil:
		return "", err
	case len(hosts) == 0:
		return "", invalid("Could not find participant hosting %s", party)
	case len(hosts) > 1:
		return "", invalid("Party %s is hosted on %d participants, which is not supported", party, len(hosts))
	}
	return hosts[0], checkMember(hosts[0])
}

// trafficRequestPayload is BuyTrafficRequest.
type trafficRequestPayload struct {
	User       string    `json:"endUserParty"`
	Member     string    `json:"memberId"`
	ExpiresAt  time.Time `json:"expiresAt"`
	TrackingID string    `json:"trackingId"`
}

// Complete buys what a user has asked for. The contract of the result is the
// MemberTraffic.
func (w *Traffic) Complete(ctx context.Context, actor Actor, r OpenTrafficRequest) (Done, error) {
	if err := checkMember(r.Member); err != nil {
		return Done{}, err
	}
	value, done, err := w.coins.execute(ctx, actor, batch{operation: operation{"CO_CompleteBuyTrafficRequest", map[string]any{"trafficRequestCid": r.ID}}})
	if err != nil {
		return done, err
	}
	var pair struct {
		Traffic string `json:"_1"`
	}
	err = json.Unmarshal(value, &pair)
	done.ContractID = pair.Traffic
	return done, err
}

// Cancel ends a request that cannot be met.
func (w *Traffic) Cancel(ctx context.Context, actor Actor, contractID, reason string) (Done, error) {
	return w.exercise(ctx, actor.Party, template.BuyTrafficRequest, contractID, template.BuyTrafficRequestCancel, reasonArgument{reason})
}

// Expire ends a request that has expired.
func (w *Traffic) Expire(ctx context.Context, actor Actor, contractID string) (Done, error) {
	return w.exercise(ctx, actor.Party, template.BuyTrafficRequest, contractID, template.BuyTrafficRequestExpire, noArgument)
}

// TopUp is a purchase of traffic for the operator's own node.
type TopUp struct {
	Bytes          int64
	Member         string
	SynchronizerID string
	MigrationID    int64
	// Interval is the least time since the last purchase, which State has; "" if there was
	// none yet.
	Interval time.Duration
	State    string
}

// BuyTopUp buys traffic with the operator's coins, ahead of what else waits. The contract of
// the result is the MemberTraffic.
func (w *Traffic) BuyTopUp(ctx context.Context, operator Actor, t TopUp) (Done, error) {
	if err := checkMember(t.Member); err != nil {
		return Done{}, err
	}
	value := map[string]any{
		"trafficAmount": strconv.FormatInt(t.Bytes, 10), "memberId": t.Member, "synchronizerId": t.SynchronizerID,
		"migrationId":      strconv.FormatInt(t.MigrationID, 10),
		"minTopupInterval": map[string]string{"microseconds": strconv.FormatInt(t.Interval.Microseconds(), 10)},
		"topupStateCid":    optional(t.State),
	}
	return w.coins.executeFor(ctx, operator, batch{operation: operation{"CO_BuyMemberTraffic", value}, urgent: true})
}

// TrafficCost is what so many bytes cost in coins, rounded up.
func (m *Market) TrafficCost(bytes int64) decimal.Decimal {
	price := m.Config().Synchronizer.Fees.TrafficPrice
	if own := m.opens[len(m.opens)-1].TrafficPrice; own != nil {
		price = *own
	}
	return price.TimesInt(bytes).Over(decimal.FromInt(1e6)).OverUp(m.Price)
}
