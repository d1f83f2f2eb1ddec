package validator

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
)

// trafficPath is where requests for traffic are.
const trafficPath = "/v0/wallet/buy-traffic-requests"

// traffic is bought by requests.
type traffic struct {
	reader  *reader
	network Network
}

func (t *traffic) operations() []operation {
	return []operation{
		{method: "POST", path: trafficPath, name: "request_traffic", write: true, handle: t.request},
		{method: "POST", path: trafficPath + "/{tracking_id}/status", name: "traffic_status", handle: t.status},
	}
}

func (t *traffic) request(ctx context.Context, c *caller) error {
	now, err := t.network.Time(ctx)
	if err != nil {
		return err
	}
	p := c.Body()
	r := wallet.TrafficRequest{
		ReceivingParty: partyOf(p, "receiving_validator_party_id"), SynchronizerID: partyOf(p, "domain_id"),
		Bytes: p.Int64("traffic_amount"), TrackingID: textOf(p, "tracking_id", 1, maxTrackingID), ExpiresAt: expiryOf(p, "expires_at", now),
	}
	if p.Err() == nil && r.Bytes <= 0 {
		p.Fail("Member traffic_amount must be greater than zero.")
	}
	if err := p.Err(); err != nil {
		return err
	}
	done, err := c.commands.Traffic.Request(ctx, c.actor(), r)
	return contractAnswer(c, "request_contract_id", done, err)
}
