package validator

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// do notes a command and answers it.
func (m *memory) do(format string, args ...any) (wallet.Done, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return wallet.Done{}, m.fail
	}
	m.commands = append(m.commands, fmt.Sprintf(format, args...))
	return wallet.Done{ContractID: "00made", UpdateID: "1220made", Offset: 17, Visible: m.visible}, nil
}

func (m memoryTokens) instruct(format string, args ...any) (wallet.InstructionResult, error) {
	done, err := m.do(format, args...)
	return wallet.InstructionResult{Done: done, Pending: "00pending", Change: []string{"00change"}, Meta: map[string]string{"k": "v"}}, err
}

// commanded notes the commands that the interface sends.
func (m *memory) commanded() *Commands {
	return &Commands{
		Tokens:        memoryTokens{m, "token"},
		TokensV2:      memoryTokens{m, "token v2"},
		Offers:        memoryOffers{m},
		Traffic:       memoryTraffic{m},
		Coins:         memoryCoins{m},
		Rewards:       memoryRewards{m},
		Preapprovals:  memoryPreapprovals{m},
		Minting:       memoryMinting{m},
		Subscriptions: memorySubscriptions{m},
		AppPayments:   memoryAppPayments{m},
		Fund:          memoryFund{m},
		Allocations:   memoryAllocations{m},
		Users:         memoryUsers{m},
		External:      memoryExternal{m},
	}
}

// The parts of a wallet.
type (
	memoryTokens struct {
		*memory
		name string
	}
	memoryOffers        struct{ *memory }
	memoryTraffic       struct{ *memory }
	memoryCoins         struct{ *memory }
	memoryRewards       struct{ *memory }
	memoryPreapprovals  struct{ *memory }
	memoryMinting       struct{ *memory }
	memorySubscriptions struct{ *memory }
	memoryAppPayments   struct{ *memory }
	memoryFund          struct{ *memory }
	memoryAllocations   struct{ *memory }
	memoryUsers         struct{ *memory }
	memoryExternal      struct{ *memory }
)

func (m memoryOffers) Create(_ context.Context, a wallet.Actor, r wallet.OfferRequest) (wallet.Done, error) {
	return m.do("offer %s %s %s %s %q %d %s", a.User, a.Party, r.Receiver, r.Amount, r.Description, r.ExpiresAt.UnixMicro(), r.TrackingID)
}
func (m memoryOffers) Accept(_ context.Context, a wallet.Actor, id string) (wallet.Done, error) {
	return m.do("accept %s %s", a.Party, id)
}
func (m memoryOffers) Reject(_ context.Context, a wallet.Actor, id string) (wallet.Done, error) {
	return m.do("reject %s %s", a.Party, id)
}
func (m memoryOffers) Withdraw(_ context.Context, a wallet.Actor, id string) (wallet.Done, error) {
	return m.do("withdraw %s %s", a.Party, id)
}
func (m memoryTraffic) Request(_ context.Context, a wallet.Actor, r wallet.TrafficRequest) (wallet.Done, error) {
	return m.do("traffic %s %s %s %d %s", a.Party, r.ReceivingParty, r.SynchronizerID, r.Bytes, r.TrackingID)
}
func (m memoryCoins) Tap(_ context.Context, a wallet.Actor, dollars decimal.Decimal, id string) (wallet.Done, error) {
	return m.do("tap %s %s %s", a.Party, dollars, id)
}
func (m memoryRewards) GrantFeaturedRight(_ context.Context, a wallet.Actor) (wallet.Done, error) {
	return m.do("feature %s", a.Party)
}
func (m memoryRewards) CancelFeaturedRights(_ context.Context, a wallet.Actor) (wallet.Done, error) {
	return m.do("unfeature %s", a.Party)
}
func (m memoryPreapprovals) Request(_ context.Context, a wallet.Actor) (wallet.Done, error) {
	return m.do("preapproval %s", a.Party)
}
func (m memoryPreapprovals) Send(_ context.Context, a wallet.Actor, r wallet.SendRequest) (wallet.Done, error) {
	return m.do("send %s %s %s %s %q", a.Party, r.Receiver, r.Amount, r.DeduplicationID, r.Description)
}
func (m memoryPreapprovals) Cancel(_ context.Context, receiver string) (wallet.Done, error) {
	return m.do("cancel preapproval %s", receiver)
}
func (m memoryTokens) Create(_ context.Context, a wallet.Actor, r wallet.OfferRequest) (wallet.InstructionResult, error) {
	return m.instruct("%s %s %s %s %s", m.name, a.Party, r.Receiver, r.Amount, r.TrackingID)
}
func (m memoryTokens) Accept(_ context.Context, a wallet.Actor, id string) (wallet.InstructionResult, error) {
	return m.instruct("%s accept %s %s", m.name, a.Party, id)
}
func (m memoryTokens) Reject(_ context.Context, a wallet.Actor, id string) (wallet.InstructionResult, error) {
	return m.instruct("%s reject %s %s", m.name, a.Party, id)
}
func (m memoryTokens) Withdraw(_ context.Context, a wallet.Actor, id string) (wallet.InstructionResult, error) {
	return m.instruct("%s withdraw %s %s", m.name, a.Party, id)
}
func (m memoryMinting) Accept(_ context.Context, a wallet.Actor, id string) (wallet.Done, error) {
	return m.do("minting accept %s %s", a.Party, id)
}
func (m memoryMinting) RejectProposal(_ context.Context, a wallet.Actor, id string) (wallet.Done, error) {
	return m.do("minting reject %s %s", a.Party, id)
}
func (m memoryMinting) Reject(_ context.Context, a wallet.Actor, id string) (wallet.Done, error) {
	return m.do("minting end %s %s", a.Party, id)
}
func (m memorySubscriptions) RequestName(_ context.Context, a wallet.Actor, r wallet.NameRequest) (wallet.NameRequested, error) {
	done, err := m.do("name %s %s %q %q", a.Party, r.Name, r.URL, r.Description)
	return wallet.NameRequested{Done: done, Context: "00context", Subscription: "00subscription"}, err
}
func (m memorySubscriptions) Accept(_ context.Context, a wallet.Actor, id string) (wallet.Done, error) {
	return m.do("subscription accept %s %s", a.Party, id)
}
func (m memorySubscriptions) Reject(_ context.Context, a wallet.Actor, id string) (wallet.Done, error) {
	return m.do("subscription reject %s %s", a.Party, id)
}
func (m memorySubscriptions) Cancel(_ context.Context, a wallet.Actor, id string) (wallet.Done, error) {
	return m.do("subscription cancel %s %s", a.Party, id)
}
func (m memoryAppPayments) Accept(_ context.Context, a wallet.Actor, id string) (wallet.Done, error) {
	return m.do("app payment accept %s %s", a.Party, id)
}
func (m memoryAppPayments) Reject(_ context.Context, a wallet.Actor, id string) (wallet.Done, error) {
	return m.do("app payment reject %s %s", a.Party, id)
}
func (m memoryFund) Allocate(_ context.Context, a wallet.Actor, r wallet.FundRequest) (wallet.Allocated, error) {
	done, err := m.do("fund %s %s %s %d %q %d", a.Party, r.Beneficiary, r.Amount, r.ExpiresAt.UnixMicro(), r.Reason, max(0, r.MintAfter.UnixMicro()))
	return wallet.Allocated{Done: done, Rest: "00rest"}, err
}
func (m memoryFund) Withdraw(_ context.Context, a wallet.Actor, id, reason string) (wallet.Done, error) {
	return m.do("fund withdraw %s %s %q", a.Party, id, reason)
}
func (m memoryAllocations) allocate(format string, args ...any) (wallet.AllocationResult, error) {
	done, err := m.do(format, args...)
	return wallet.AllocationResult{Done: done, Completed: "00allocation", Holdings: map[string][]string{"Amulet": {"00change"}}, Meta: map[string]string{"k": "v"}}, err
}
func (m memoryAllocations) AllocateLeg(_ context.Context, a wallet.Actor, r wallet.LegRequest) (wallet.AllocationResult, error) {
	return m.allocate("leg %s %s %v %d %d %d %v %s %s %s %v", a.Party, r.Executor, r.Reference, r.RequestedAt.UnixMicro(), r.AllocateBefore.UnixMicro(), r.SettleBefore.UnixMicro(),
		r.SettlementMeta, r.LegID, r.Receiver, r.Amount, r.LegMeta)
}
func (m memoryAllocations) WithdrawLeg(_ context.Context, a wallet.Actor, id string) (wallet.AllocationResult, error) {
	return m.allocate("leg withdraw %s %s", a.Party, id)
}
func (m memoryAllocations) AllocateSides(_ context.Context, a wallet.Actor, r wallet.SidesRequest) (wallet.AllocationResult, error) {
	return m.allocate("sides %s %s %v %v %v %v %v %v", a.Party, r.Executors, r.Reference, r.Deadline.UnixMicro() > 0, r.Sides, r.Next, r.Committed, r.Meta)
}
func (m memoryAllocations) WithdrawSides(_ context.Context, a wallet.Actor, id string) (wallet.AllocationResult, error) {
	return m.allocate("sides withdraw %s %s", a.Party, id)
}
func (m memoryAllocations) Requests(_ context.Context, a wallet.Actor) ([]wallet.ShownContract, error) {
	_, err := m.do("allocation requests %s", a.Party)
	return []wallet.ShownContract{{ID: "00request", InterfaceID: "ab:M:E", View: []byte(`{"k":"v"}`), CreatedAt: present, Blob: "YWI="}}, err
}
func (m memoryAllocations) RejectRequest(_ context.Context, a wallet.Actor, id string) (wallet.AllocationResult, error) {
	return m.allocate("reject request %s %s", a.Party, id)
}
func (m memoryAllocations) RejectRequestV2(_ context.Context, a wallet.Actor, id string) (wallet.AllocationResult, error) {
	return m.allocate("reject request v2 %s %s", a.Party, id)
}
func (m memoryUsers) Onboard(_ context.Context, r wallet.OnboardRequest) (string, error) {
	_, err := m.do("onboard %s %q %v", r.User, r.Party, r.CreateParty)
	return cmp.Or(r.Party, r.User+"::1220"), err
}
func (m memoryUsers) Offboard(_ context.Context, user string) error {
	_, err := m.do("offboard %s", user)
	return err
}
func (m memoryExternal) GenerateTopology(_ context.Context, hint string, key []byte) (string, []wallet.TopologyTransaction, error) {
	_, err := m.do("topology %s %x", hint, key)
	return hint + "::1220", []wallet.TopologyTransaction{{Transaction: []byte("tx"), Hash: []byte{0x12, 0x20}}}, err
}
func (m memoryExternal) SubmitTopology(_ context.Context, key []byte, signed []wallet.SignedTopology) (string, error) {
	_, err := m.do("submit topology %x %d %x", key, len(signed), signed[0].Signature)
	return external, err
}
func (m memoryExternal) ProposeSetup(_ context.Context, party string) (wallet.Done, error) {
	return m.do("propose setup %s", party)
}
func (m memoryExternal) PrepareAcceptSetup(_ context.Context, party, id string, verbose bool) (wallet.PreparedSubmission, error) {
	_, err := m.do("prepare accept %s %s %v", party, id, verbose)
	return wallet.PreparedSubmission{Transaction: []byte("tx"), Hash: []byte{1, 2}, HashingDetails: "details"}, err
}
func (m memoryExternal) SubmitAcceptSetup(_ context.Context, s wallet.ExternalSubmission) (wallet.Done, error) {
	return m.do("submit accept %s %s %x %x", s.Party, s.Transaction, s.Signature, s.PublicKey)
}
func (m memoryExternal) PrepareSend(_ context.Context, r wallet.ExternalSend) (wallet.PreparedSubmission, error) {
	_, err := m.do("prepare send %s %s %s %d", r.Sender, r.Receiver, r.Amount, r.Nonce)
	return wallet.PreparedSubmission{Transaction: []byte("tx"), Hash: []byte{1, 2}, ContractIDPrefix: "00ab"}, err
}
func (m memoryExternal) SubmitSend(_ context.Context, s wallet.ExternalSubmission) (wallet.Done, error) {
	return m.do("submit send %s", s.Party)
}
