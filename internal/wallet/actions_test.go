package wallet_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/internal/wallet/wallettest"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// world is a network with the tests of what wallets do in it.
type world struct{ *wallettest.World }

func TestActions(t *testing.T) {
	w := &world{wallettest.New(t)}
	alice, bob := w.Onboarded("alice", ""), w.Onboarded("bob", "")
	w.Run("Onboarding", func(t *testing.T) { w.onboarding(t, alice) })
	w.Tap(alice, "100")
	w.Tap(w.Operator, "1000")
	for _, test := range []struct {
		name string
		run  func(t *testing.T, alice, bob wallet.Actor)
	}{
		{"Blobs", w.blobs}, {"Taps", w.taps}, {"Offers", w.offers}, {"BadRequests", w.badRequests}, {"TokenStandard", w.tokenStandard}, {"Preapprovals", w.preapprovals},
		{"ExpiredPreapprovals", w.expiredPreapprovals}, {"Traffic", w.traffic}, {"FeaturedRights", w.featuredRights}, {"AllocationRequests", w.allocationRequests}, {"ExternalParties", w.externalParties}, {"Offboarding", w.offboarding},
	} {
		w.Run(test.name, func(t *testing.T) { test.run(t, alice, bob) })
	}
}

// wants checks the kind of an error.
func wants(t *testing.T, what string, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s: the error is %v, want one of kind %q", what, err, kind)
	}
}

func must[T any](t *testing.T, what string) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return value
	}
}

func (w *world) onboarding(t *testing.T, alice wallet.Actor) {
	again := must[string](t, "again")(w.Wallet.Users.Onboard(t.Context(), wallet.OnboardRequest{User: "alice"}))
	if again != alice.Party || !strings.HasPrefix(alice.Party, "alice::1220") {
		t.Errorf("alice has party %s, then %s", alice.Party, again)
	}
	actors := must[[]wallet.Actor](t, "listing")(w.Wallet.Users.Actors(t.Context(), alice.Party))
	if len(actors) != 1 || actors[0].User != "alice" {
		t.Errorf("the wallets of alice are %+v", actors)
	}
	operator, _, _ := strings.Cut(w.Operator.Party, "::")
	thief := must[string](t, "the name of another party")(w.Wallet.Users.Onboard(t.Context(), wallet.OnboardRequest{User: operator}))
	if thief == w.Operator.Party || !strings.HasPrefix(thief, operator+"-") {
		t.Errorf("a user with the name of the operator's party got party %s", thief)
	}
	_, err := w.Wallet.Users.Onboard(t.Context(), wallet.OnboardRequest{User: "mallory", Party: "mallory::1220" + strings.Repeat("ab", 32)})
	wants(t, "a party that is not there", err, wallet.ErrInvalid)
	_, err = w.Wallet.Coins.Tap(t.Context(), wallet.Actor{User: "nobody", Party: alice.Party}, decimal.FromInt(1), "")
	wants(t, "a user without wallet", err, wallet.ErrNotFound)
}

// blobs checks that public contracts come whole.
func (w *world) blobs(t *testing.T, _, _ wallet.Actor) {
	for _, template := range []string{template.CoinRules, template.OpenMiningRound, template.IssuingMiningRound, template.ExternalPartyCoinRules} {
		list := must[[]wallet.Contract](t, template)(w.Public.Public(t.Context(), "", template))
		if len(list) == 0 {
			t.Errorf("there is no %s", template)
		}
		for _, c := range list {
			if c.Blob == "" {
				t.Errorf("contract %s of %s has no blob", c.ID, template)
			}
		}
	}
}

func (w *world) taps(t *testing.T, alice, _ wallet.Actor) {
	before, _ := w.Balance(alice)
	done := must[wallet.Done](t, "tapping")(w.Wallet.Coins.Tap(t.Context(), alice, decimal.FromInt(1), "tap-1"))
	after, _ := w.Balance(alice)
	m := must[*wallet.Market](t, "market")(w.Wallet.Network.Market(t.Context()))
	if got, want := after.Minus(before), decimal.FromInt(1).OverUp(m.Price); done.ContractID == "" || !done.Visible || got.Cmp(want) != 0 {
		t.Errorf("a tap of 1 USD gives %s CC in %+v, want %s", got, done, want)
	}
	again := must[wallet.Done](t, "the same tap")(w.Wallet.Coins.Tap(t.Context(), alice, decimal.FromInt(1), "tap-1"))
	restarted := must[wallet.Done](t, "the same tap of another process")(w.Restarted().Coins.Tap(t.Context(), alice, decimal.FromInt(1), "tap-1"))
	if again != done || restarted != done {
		t.Errorf("repeated taps are %+v and %+v, the first was %+v", again, restarted, done)
	}
	_, err := w.Wallet.Coins.Tap(t.Context(), alice, decimal.Must("1000000000000"), "")
	wants(t, "a large tap", err, wallet.ErrInvalid)
}

func (w *world) offers(t *testing.T, alice, bob wallet.Actor) {
	offer := func(tracking string) wallet.OfferRequest {
		return wallet.OfferRequest{Receiver: bob.Party, Amount: decimal.FromInt(5), Description: "rent", ExpiresAt: w.Soon(), TrackingID: tracking}
	}
	first := must[wallet.Done](t, "offering")(w.Wallet.Offers.Create(t.Context(), alice, offer("t1")))
	_, err := w.Wallet.Offers.Create(t.Context(), alice, offer("t1"))
	wants(t, "the same tracking id", err, wallet.ErrConflict)
	_, err = w.Wallet.Offers.Accept(t.Context(), alice, first.ContractID)
	wants(t, "accepting one's own offer", err, wallet.ErrNotFound)
	_, err = w.Wallet.Offers.Withdraw(t.Context(), bob, first.ContractID)
	wants(t, "withdrawing another's offer", err, wallet.ErrNotFound)
	_, err = w.Wallet.Offers.Accept(t.Context(), w.Operator, first.ContractID)
	wants(t, "accepting an offer that one does not see", err, wallet.ErrNotFound)

	accepted := must[wallet.Done](t, "accepting")(w.Wallet.Offers.Accept(t.Context(), bob, first.ContractID))
	_, err = w.Wallet.Offers.Accept(t.Context(), bob, first.ContractID)
	wants(t, "accepting twice", err, wallet.ErrNotFound)
	before, _ := w.Balance(bob)
	must[wallet.Done](t, "completing")(w.Wallet.Offers.Complete(t.Context(), alice, accepted.ContractID))
	if after, _ := w.Balance(bob); after.Minus(before).Cmp(decimal.FromInt(5)) != 0 {
		t.Errorf("bob had %s, has %s", before, after)
	}

	second := must[wallet.Done](t, "offering")(w.Wallet.Offers.Create(t.Context(), alice, offer("t2")))
	must[wallet.Done](t, "rejecting")(w.Wallet.Offers.Reject(t.Context(), bob, second.ContractID))
	third := must[wallet.Done](t, "offering")(w.Wallet.Offers.Create(t.Context(), alice, offer("t3")))
	must[wallet.Done](t, "withdrawing")(w.Wallet.Offers.Withdraw(t.Context(), alice, third.ContractID))

	large := offer("t4")
	large.Amount = decimal.FromInt(1_000_000)
	fourth := must[wallet.Done](t, "offering")(w.Wallet.Offers.Create(t.Context(), alice, large))
	accepted = must[wallet.Done](t, "accepting")(w.Wallet.Offers.Accept(t.Context(), bob, fourth.ContractID))
	_, err = w.Wallet.Offers.Complete(t.Context(), alice, accepted.ContractID)
	wants(t, "paying too much", err, wallet.ErrFunds)
	must[wallet.Done](t, "aborting")(w.Wallet.Offers.Abort(t.Context(), alice, accepted.ContractID, "Insufficient funds"))
}

func (w *world) badRequests(t *testing.T, alice, bob wallet.Actor) {
	good := wallet.OfferRequest{Receiver: bob.Party, Amount: decimal.FromInt(1), ExpiresAt: w.Soon(), TrackingID: "bad"}
	for name, change := range map[string]func(*wallet.OfferRequest){
		"no tracking id":   func(r *wallet.OfferRequest) { r.TrackingID = "" },
		"nothing":          func(r *wallet.OfferRequest) { r.Amount = decimal.Decimal{} },
		"less than that":   func(r *wallet.OfferRequest) { r.Amount = decimal.FromInt(-1) },
		"more than stored": func(r *wallet.OfferRequest) { r.Amount = decimal.Must("1" + strings.Repeat("0", 28)) },
		"expired":          func(r *wallet.OfferRequest) { r.ExpiresAt = w.Ledger.Now().Add(-1) },
		"no party":         func(r *wallet.OfferRequest) { r.Receiver = "bob" },
	} {
		r := good
		change(&r)
		_, err := w.Wallet.Offers.Create(t.Context(), alice, r)
		wants(t, name, err, wallet.ErrInvalid)
		_, err = w.Wallet.Tokens.Create(t.Context(), alice, r)
		wants(t, name+", token standard", err, wallet.ErrInvalid)
	}
	r := good
	r.Receiver = "stranger::1220" + strings.Repeat("cd", 32)
	if _, err := w.Wallet.Offers.Create(t.Context(), alice, r); err == nil {
		t.Error("an offer to a party that does not exist was made")
	}
}

func (w *world) tokenStandard(t *testing.T, alice, bob wallet.Actor) {
	offer := func(tracking, amount string) wallet.OfferRequest {
		return wallet.OfferRequest{Receiver: bob.Party, Amount: decimal.Must(amount), Description: "lunch", ExpiresAt: w.Soon(), TrackingID: tracking}
	}
	_, lockedBefore := w.Balance(alice)
	first := must[wallet.InstructionResult](t, "offering")(w.Wallet.Tokens.Create(t.Context(), alice, offer("k1", "3.5")))
	if _, locked := w.Balance(alice); first.Pending == "" || locked.Minus(lockedBefore).Cmp(decimal.Must("3.5")) != 0 {
		t.Errorf("the offer is %+v, %s are locked", first, locked)
	}
	again := must[wallet.InstructionResult](t, "the same tracking id")(w.Wallet.Tokens.Create(t.Context(), alice, offer("k1", "3.5")))
	if again.Pending != first.Pending || again.Offset != first.Offset {
		t.Errorf("the same tracking id has %+v, the first was %+v", again, first)
	}
	_, err := w.Wallet.Tokens.Accept(t.Context(), alice, first.Pending)
	wants(t, "accepting one's own", err, wallet.ErrNotFound)
	before, _ := w.Balance(bob)
	accepted := must[wallet.InstructionResult](t, "accepting")(w.Wallet.Tokens.Accept(t.Context(), bob, first.Pending))
	if after, _ := w.Balance(bob); len(accepted.Completed) == 0 || after.Minus(before).Cmp(decimal.Must("3.5")) != 0 {
		t.Errorf("accepted is %+v; bob had %s, has %s", accepted, before, after)
	}
	had, _ := w.Balance(alice)
	second := must[wallet.InstructionResult](t, "offering")(w.Wallet.Tokens.Create(t.Context(), alice, offer("k2", "1")))
	must[wallet.InstructionResult](t, "rejecting")(w.Wallet.Tokens.Reject(t.Context(), bob, second.Pending))
	third := must[wallet.InstructionResult](t, "offering")(w.Wallet.Tokens.Create(t.Context(), alice, offer("k3", "1")))
	must[wallet.InstructionResult](t, "withdrawing")(w.Wallet.Tokens.Withdraw(t.Context(), alice, third.Pending))
	if has, locked := w.Balance(alice); has.Cmp(had) != 0 || locked.Cmp(lockedBefore) != 0 {
		t.Errorf("alice had %s, has %s and %s locked", had, has, locked)
	}
	_, err = w.Wallet.Tokens.Create(t.Context(), alice, offer("k4", "1000000"))
	wants(t, "more than there is", err, wallet.ErrFunds)
}

func (w *world) preapprovals(t *testing.T, alice, bob wallet.Actor) {
	send := wallet.SendRequest{Receiver: bob.Party, Amount: decimal.FromInt(2), Description: "tip", DeduplicationID: "d1"}
	_, err := w.Wallet.Preapprovals.Send(t.Context(), alice, send)
	wants(t, "a receiver without preapproval", err, wallet.ErrInvalid)
	done := must[wallet.Done](t, "requesting")(w.Wallet.Preapprovals.Request(t.Context(), bob))
	w.awaitPreapproval(t, bob, true)
	_, err = w.Wallet.Preapprovals.Request(t.Context(), bob)
	var have *wallet.Error
	if wants(t, "a second one", err, wallet.ErrConflict); !errors.As(err, &have) || have.ContractID != done.ContractID {
		t.Errorf("the error is %+v, want the id %s", have, done.ContractID)
	}
	before, _ := w.Balance(bob)
	sent := must[wallet.Done](t, "sending")(w.Wallet.Preapprovals.Send(t.Context(), alice, send))
	for _, process := range []*wallet.Wallet{w.Wallet, w.Restarted()} {
		if again := must[wallet.Done](t, "sending twice")(process.Preapprovals.Send(t.Context(), alice, send)); again != sent {
			t.Errorf("sending twice is %+v, the first was %+v", again, sent)
		}
	}
	if after, _ := w.Balance(bob); after.Minus(before).Cmp(decimal.FromInt(2)) != 0 {
		t.Errorf("bob had %s, has %s", before, after)
	}
	transfer := wallet.OfferRequest{Receiver: bob.Party, Amount: decimal.FromInt(1), ExpiresAt: w.Soon(), TrackingID: "direct"}
	direct := must[wallet.InstructionResult](t, "by the token standard")(w.Wallet.Tokens.Create(t.Context(), alice, transfer))
	if len(direct.Completed) == 0 || direct.Pending != "" {
		t.Errorf("to a receiver with a preapproval the transfer is %+v", direct)
	}
	must[wallet.Done](t, "cancelling")(w.Wallet.Preapprovals.Cancel(t.Context(), bob.Party))
	w.awaitPreapproval(t, bob, false)
	_, err = w.Wallet.Preapprovals.Cancel(t.Context(), bob.Party)
	wants(t, "cancelling twice", err, wallet.ErrNotFound)
}

// expiredPreapprovals requests preapprovals when there is one that is good, and when it has expired and
// the network has not ended it yet.
func (w *world) expiredPreapprovals(t *testing.T, _, bob wallet.Actor) {
	request := func(when string, process *wallet.Wallet, have string) string {
		t.Helper()
		done, err := process.Preapprovals.Request(t.Context(), bob)
		if have == "" {
			return must[wallet.Done](t, when)(done, err).ContractID
		}
		var conflict *wallet.Error
		if wants(t, when, err, wallet.ErrConflict); !errors.As(err, &conflict) || conflict.ContractID != have {
			t.Errorf("%s: the error is of %s, want the id %s", when, conflict.ContractID, have)
		}
		return have
	}
	first := request("requesting", w.Restarted(func(c *wallet.Config) { c.PreapprovalLifetime = time.Minute }), "")
	request("while it is good", w.Wallet, first)
	afterwards := w.Restarted(func(c *wallet.Config) { c.Public = later{w.Public, time.Minute} })
	second := request("when it has expired", afterwards, "")
	if second == first {
		t.Errorf("the preapproval that has expired, %s, is there", first)
	}
	request("when there is another one", afterwards, second)
	must[wallet.Done](t, "cancelling")(w.Wallet.Preapprovals.Cancel(t.Context(), bob.Party))
	w.awaitPreapproval(t, bob, false)
}

// later is public history of a network whose time is ahead.
type later struct {
	*wallet.StorePublic
	by time.Duration
}

func (p later) Now(ctx context.Context) (time.Time, error) {
	at, err := p.StorePublic.Now(ctx)
	return at.Add(p.by), err
}

// awaitPreapproval waits until public history shows that a receiver has a preapproval, or none.
func (w *world) awaitPreapproval(t *testing.T, receiver wallet.Actor, want bool) {
	t.Helper()
	w.Await("the preapproval in public history", func() bool {
		list, err := w.Public.Public(t.Context(), receiver.Party, template.TransferPreapproval)
		return err == nil && (len(list) > 0) == want
	})
}

func (w *world) traffic(t *testing.T, alice, _ wallet.Actor) {
	m := must[*wallet.Market](t, "market")(w.Wallet.Network.Market(t.Context()))
	r := wallet.TrafficRequest{ReceivingParty: alice.Party, SynchronizerID: m.Config().Synchronizer.Active, Bytes: 300_000, ExpiresAt: w.Soon(), TrackingID: "b1"}
	first := must[wallet.Done](t, "requesting")(w.Wallet.Traffic.Request(t.Context(), alice, r))
	_, err := w.Wallet.Traffic.Request(t.Context(), alice, r)
	wants(t, "the same tracking id", err, wallet.ErrConflict)
	before, _ := w.Balance(alice)
	done := must[wallet.Done](t, "completing")(w.Wallet.Traffic.Complete(t.Context(), alice, w.trafficRequest(t, alice, first.ContractID)))
	if after, _ := w.Balance(alice); done.ContractID == "" || after.Cmp(before) >= 0 {
		t.Errorf("completed as %+v; alice had %s, has %s", done, before, after)
	}
	r.TrackingID, r.Bytes = "b2", 1
	second := must[wallet.Done](t, "requesting little")(w.Wallet.Traffic.Request(t.Context(), alice, r))
	request := w.trafficRequest(t, alice, second.ContractID)
	_, err = w.Wallet.Traffic.Complete(t.Context(), alice, request)
	wants(t, "too little traffic", err, wallet.ErrTopUp)
	request.Member = strings.TrimPrefix(request.Member, "PAR::")
	_, err = w.Wallet.Traffic.Complete(t.Context(), alice, request)
	wants(t, "no member", err, wallet.ErrInvalid)
	must[wallet.Done](t, "cancelling")(w.Wallet.Traffic.Cancel(t.Context(), alice, second.ContractID, "too little"))
}

// trafficRequest is a request of a user.
func (w *world) trafficRequest(t *testing.T, user wallet.Actor, id string) wallet.OpenTrafficRequest {
	t.Helper()
	list := must[[]wallet.OpenTrafficRequest](t, "listing")(w.Wallet.Traffic.Requests(t.Context(), user.Party))
	i := slices.IndexFunc(list, func(r wallet.OpenTrafficRequest) bool { return r.ID == id })
	if i < 0 {
		t.Fatalf("request %s is not among %+v", id, list)
	}
	return list[i]
}

func (w *world) featuredRights(t *testing.T, alice, _ wallet.Actor) {
	granted := must[wallet.Done](t, "granting")(w.Wallet.Rewards.GrantFeaturedRight(t.Context(), alice))
	again := must[wallet.Done](t, "granting again")(w.Wallet.Rewards.GrantFeaturedRight(t.Context(), alice))
	if granted.ContractID == "" || again.ContractID != granted.ContractID {
		t.Errorf("granted %+v, then %+v", granted, again)
	}
	must[wallet.Done](t, "cancelling")(w.Wallet.Rewards.CancelFeaturedRights(t.Context(), alice))
	after := must[wallet.Done](t, "granting anew")(w.Wallet.Rewards.GrantFeaturedRight(t.Context(), alice))
	if after.ContractID == granted.ContractID {
		t.Error("a right that was cancelled is still there")
	}
}

func (w *world) externalParties(t *testing.T, _, bob wallet.Actor) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	hint := "ext"
	party, txs, err := w.Wallet.External.GenerateTopology(t.Context(), hint, public)
	if err != nil || !strings.HasPrefix(party, "ext::1220") || len(txs) != 3 {
		t.Fatalf("generated %s, %d transactions, %v", party, len(txs), err)
	}
	var signed []wallet.SignedTopology
	for _, tx := range txs {
		signed = append(signed, wallet.SignedTopology{Transaction: tx.Transaction, Signature: ed25519.Sign(private, tx.Hash)})
	}
	wrong := append([]wallet.SignedTopology{{Transaction: txs[0].Transaction, Signature: signed[1].Signature}}, signed[1:]...)
	_, err = w.Wallet.External.SubmitTopology(t.Context(), public, wrong)
	wants(t, "a wrong signature of topology", err, wallet.ErrInvalid)
	_, err = w.Wallet.External.ProposeSetup(t.Context(), party)
	wants(t, "an unknown party", err, wallet.ErrNotFound)
	if got := must[string](t, "allocating")(w.Wallet.External.SubmitTopology(t.Context(), public, signed)); got != party {
		t.Fatalf("allocated %s, want %s", got, party)
	}
	proposal := must[wallet.Done](t, "proposing")(w.Wallet.External.ProposeSetup(t.Context(), party))
	_, err = w.Wallet.External.ProposeSetup(t.Context(), party)
	wants(t, "a second proposal", err, wallet.ErrConflict)
	_, err = w.Wallet.External.PrepareAcceptSetup(t.Context(), party, "00ab", false)
	wants(t, "another contract id", err, wallet.ErrInvalid)
	prepared := must[wallet.PreparedSubmission](t, "preparing")(w.Wallet.External.PrepareAcceptSetup(t.Context(), party, proposal.ContractID, true))
	submission := wallet.ExternalSubmission{Party: party, Transaction: prepared.Transaction, Signature: ed25519.Sign(private, []byte("another text")), PublicKey: public}
	_, err = w.Wallet.External.SubmitAcceptSetup(t.Context(), submission)
	wants(t, "a wrong signature", err, wallet.ErrInvalid)
	submission.Signature = ed25519.Sign(private, prepared.Hash)
	accepted := must[wallet.Done](t, "accepting")(w.Wallet.External.SubmitAcceptSetup(t.Context(), submission))
	if accepted.ContractID == "" || prepared.HashingDetails == "" {
		t.Errorf("accepted as %+v", accepted)
	}
	if _, err := w.Wallet.External.SubmitAcceptSetup(t.Context(), submission); err == nil {
		t.Error("what was signed once was executed twice")
	}
	must[wallet.Done](t, "requesting")(w.Wallet.Preapprovals.Request(t.Context(), bob))
	w.awaitPreapproval(t, bob, true)
	send := must[wallet.PreparedSubmission](t, "preparing a transfer")(w.Wallet.External.PrepareSend(t.Context(), wallet.ExternalSend{
		Sender: party, Receiver: bob.Party, Amount: decimal.FromInt(1), ExpiresAt: w.Soon(), Nonce: 0,
	}))
	sent := must[wallet.Done](t, "sending")(w.Wallet.External.SubmitSend(t.Context(), wallet.ExternalSubmission{
		Party: party, Transaction: send.Transaction, Signature: ed25519.Sign(private, send.Hash), PublicKey: public,
	}))
	if send.ContractIDPrefix == "" || !strings.HasPrefix(sent.ContractID, send.ContractIDPrefix) {
		t.Errorf("the command is %s, announced was %s", sent.ContractID, send.ContractIDPrefix)
	}
}

func (w *world) offboarding(t *testing.T, _, bob wallet.Actor) {
	if err := w.Wallet.Users.Offboard(t.Context(), "bob"); err != nil {
		t.Fatal(err)
	}
	_, err := w.Wallet.Coins.Tap(t.Context(), bob, decimal.FromInt(1), "")
	wants(t, "a user who is gone", err, wallet.ErrNotFound)
	wants(t, "offboarding nobody", w.Wallet.Users.Offboard(t.Context(), "nobody"), wallet.ErrNotFound)
	if again := must[string](t, "coming back")(w.Wallet.Users.Onboard(t.Context(), wallet.OnboardRequest{User: "bob"})); again != bob.Party {
		t.Errorf("bob came back with party %s, had %s", again, bob.Party)
	}
}
