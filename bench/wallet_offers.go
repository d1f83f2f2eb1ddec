package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"

	"github.com/ledgerlake/ledgerlake/query/auth"
)

const (
	// maxOfferVisible is the most that may pass, at the 99th percentile, from the answer to an
	// offer of coins until its receiver is shown it.
	maxOfferVisible = 1000 // ms
	offersMade      = 200
	offerHistory    = 2000 // updates before the offers
)

// walletClient asks the validator interface of a product on a simulated network.
type walletClient struct{ base string }

// ask sends a request as a user and reads its answer, which must be a success.
func (c *walletClient) ask(ctx context.Context, user, method, path string, body, into any) error {
	text := []byte(nil)
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return fmt.Errorf("encoding a request: %w", err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("making a request: %w", err)
	}
	// What up says of tokens for a simulated network.
	token, err := auth.Mint([]byte("unsafe"), auth.Claims{User: user, Audience: "https://validator.ledgerlake", Expires: time.Now().Add(time.Hour)})
	if err != nil {
		return fmt.Errorf("minting a token for %s: %w", user, err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	return lab.DoJSON(request, into)
}

// awaitReady waits until the validator answers requests.
func (c *walletClient) awaitReady(ctx context.Context) error {
	return lab.Until(ctx, 200*time.Millisecond, 2*time.Minute, "getting the validator ready", func() (bool, error) {
		response, err := http.Get(c.base + "/readyz")
		if err != nil {
			return false, ctx.Err()
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK, ctx.Err()
	})
}

// register gives a user a wallet, as soon as the validator can, and returns its party.
func (c *walletClient) register(ctx context.Context, user string) (party string, err error) {
	var answer struct {
		Party string `json:"party_id"`
	}
	err = lab.Until(ctx, 200*time.Millisecond, 2*time.Minute, "giving "+user+" a wallet", func() (bool, error) {
		last := c.ask(ctx, user, http.MethodPost, "/v0/register", nil, &answer)
		return last == nil, ctx.Err()
	})
	return answer.Party, err
}

// listed reports whether a user is shown an offer.
func (c *walletClient) listed(ctx context.Context, user, contractID string) (bool, error) {
	var list struct {
		Offers []struct {
			ID string `json:"contract_id"`
		} `json:"offers"`
	}
	if err := c.ask(ctx, user, http.MethodGet, "/v0/wallet/transfer-offers", nil, &list); err != nil {
		return false, err
	}
	for i := range slices.Backward(list.Offers) {
		if list.Offers[i].ID == contractID {
			return true, nil
		}
	}
	return false, nil
}

// measureOffers makes offers on a simulated network whose time is the present, over HTTP, and
// waits after each until its receiver is shown it.
func measureOffers(ctx context.Context, l *lab.Lab, s lab.Section) (err error) {
	l.Say("making %d offers", offersMade)
	p, err := l.Start(ctx, "scan interface", "up", "--data", l.Folder("offers-lake"),
		"--updates", fmt.Sprint(offerHistory), "--live-clock", "--live", "0", "--listen", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	c := &walletClient{p.URL + "/api/validator"}
	if err := c.awaitReady(ctx); err != nil {
		return err
	}
	if _, err := c.register(ctx, "sender"); err != nil {
		return err
	}
	receiver, err := c.register(ctx, "receiver")
	if err != nil {
		return err
	}
	var answered, shown, both lab.Timings
	for n := range offersMade {
		begin := time.Now()
		id, err := c.offer(ctx, receiver, n)
		if err != nil {
			return err
		}
		middle := time.Now()
		if err := lab.Until(ctx, 0, time.Minute, "showing an offer", func() (bool, error) { return c.listed(ctx, "receiver", id) }); err != nil {
			return err
		}
		end := time.Now()
		answered.Each, shown.Each = append(answered.Each, middle.Sub(begin)), append(shown.Each, end.Sub(middle))
		both.Each = append(both.Each, end.Sub(begin))
	}
	s.Add("transfer offer, from its request to its answer, median", answered.Percentile(50), "ms")
	s.Add("from its request to its answer, 99th percentile", answered.Percentile(99), "ms")
	s.AddLatency("from its answer to its being listed", shown, maxOfferVisible)
	s.AtMost(maxOfferVisible, "from its request to its being listed, 99th percentile", both.Percentile(99), "ms")
	return nil
}

// offer has the sender offer coins and returns the offer.
func (c *walletClient) offer(ctx context.Context, receiver string, n int) (id string, err error) {
	var answer struct {
		ID string `json:"offer_contract_id"`
	}
	err = c.ask(ctx, "sender", http.MethodPost, "/v0/wallet/transfer-offers", map[string]any{
		"receiver_party_id": receiver, "amount": "1.0", "description": "bench", "tracking_id": fmt.Sprintf("bench-%d", n),
		"expires_at": time.Now().Add(time.Hour).UnixMicro(),
	}, &answer)
	return answer.ID, err
}
