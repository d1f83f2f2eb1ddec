package model

var (
	ansEntryShape             = NewShape("user", "dso", "name", "url", "description", "expiresAt")
	ansEntryContextShape      = NewShape("dso", "user", "name", "url", "description", "reference")
	subscriptionRequestShape  = NewShape("subscriptionData", "payData")
	subscriptionDataShape     = NewShape("sender", "receiver", "provider", "dso", "description")
	subscriptionPayDataShape  = NewShape("paymentAmount", "paymentInterval", "paymentDuration")
	paymentAmountShape        = NewShape("amount", "unit")
	agreementShape            = NewShape("subscriptionData", "reference")
	subscriptionIdleShape     = NewShape("subscription", "subscriptionData", "payData", "nextPaymentDueAt", "reference")
	initialPaymentShape       = NewShape("subscriptionData", "payData", "targetAmount", "lockedAmulet", "round", "reference")
	renewalPaymentShape       = NewShape("subscription", "subscriptionData", "payData", "thisPaymentDueAt", "targetAmount", "lockedAmulet", "round", "reference")
	terminatedShape           = NewShape("subscriptionData", "reference")
	transferInstructionShape  = NewShape("lockedAmulet", "transfer")
	instructionTransferShape  = NewShape("sender", "receiver", "amount", "instrumentId", "requestedAt", "executeBefore", "inputHoldingCids", "meta")
	InstrumentIDShape         = NewShape("admin", "id")
	metadataShape             = NewShape("values")
	ReasonMetaKey             = "splice.lfdecentralizedtrust.org/reason"
	SenderMetaKey             = "splice.lfdecentralizedtrust.org/sender"
	TxKindMetaKey             = "splice.lfdecentralizedtrust.org/tx-kind"
	InstrumentAmuletInPayload = "Amulet"
)

// NameRequest is what a user asked the name service for.
type NameRequest struct {
	User, Validator        Party
	Name, Url, Description string
}

// AnsEntry is a name that a user owns until it expires.
type AnsEntry struct {
	NameRequest
	ExpiresAt int64
}

func (p AnsEntry) Arguments(a *Arena, _ uint8) Value {
	return a.Record(ansEntryShape, PartyValue(p.User), PartyValue(Dso), Text(p.Name), Text(p.Url),
		Text(p.Description), Timestamp(p.ExpiresAt))
}

func (p AnsEntry) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.User, Dso), obs
}

// AnsEntryContext joins a name with the subscription that pays for it.
type AnsEntryContext struct {
	NameRequest
	Reference uint64 // contract number of the subscription request
}

func (p AnsEntryContext) Arguments(a *Arena, _ uint8) Value {
	return a.Record(ansEntryContextShape, PartyValue(Dso), PartyValue(p.User), Text(p.Name), Text(p.Url),
		Text(p.Description), ContractID(p.Reference))
}

func (p AnsEntryContext) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso, p.User), obs
}

// Subscription is what all contracts of one subscription repeat.
type Subscription struct {
	NameRequest        // the name is "" where somebody else than the name service is paid
	Lifetime    int64  // of the name, µs
	Receiver    Party  // of the payments
	Provider    Party  // of what is paid for
	Description string // of it
	Amount      Decimal
	InUSD       bool
	// interval is the time between two payments, duration how early one can be made, µs.
	Interval, Duration int64
}

// NameSubscription is one of the name service.
func NameSubscription(n NameRequest, lifetime int64) Subscription {
	return Subscription{NameRequest: n, Lifetime: lifetime, Receiver: Dso, Provider: Dso, Description: "CNS entry: \"" + n.Name + "\"",
		Amount: EntryFeeUSD, InUSD: true, Interval: lifetime, Duration: lifetime / 3}
}

func (p Subscription) data(a *Arena) Value {
	return a.Record(subscriptionDataShape, PartyValue(p.User), PartyValue(p.Receiver), PartyValue(p.Provider),
		PartyValue(Dso), Text(p.Description))
}

func (p Subscription) payData(a *Arena) Value {
	return a.Record(subscriptionPayDataShape, paymentAmount(a, p.Amount, p.InUSD),
		relTime(a, p.Interval), relTime(a, p.Duration))
}

func (p Subscription) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	if p.Receiver == Dso && p.Provider == Dso {
		return append(sig, p.User, Dso), obs
	}
	return append(sig, p.User, p.Receiver, p.Provider), obs
}

// IsPrivate reports whether the governance party has no part in it.
func (p Subscription) IsPrivate() bool { return p.Receiver != Dso && p.Provider != Dso }

// SubscriptionRequest waits for the first payment.
type SubscriptionRequest struct{ Subscription }

func (p SubscriptionRequest) Arguments(a *Arena, _ uint8) Value {
	return a.Record(subscriptionRequestShape, p.data(a), p.payData(a))
}

// Agreement is the Subscription: it lasts from the first payment to the end.
type Agreement struct {
	Subscription
	Reference uint64 // contract number of the request
}

func (p Agreement) Arguments(a *Arena, _ uint8) Value {
	return a.Record(agreementShape, p.data(a), ContractID(p.Reference))
}

// SubscriptionIdle waits for the next payment, due at DueAt (µs).
type SubscriptionIdle struct {
	Subscription
	DueAt     int64
	Agreement uint64 // contract number
	Reference uint64
}

func (p SubscriptionIdle) Arguments(a *Arena, _ uint8) Value {
	return a.Record(subscriptionIdleShape, ContractID(p.Agreement), p.data(a), p.payData(a),
		Timestamp(p.DueAt), ContractID(p.Reference))
}

// SubscriptionPayment is a payment that waits to be collected: the first one of a
// subscription, or a renewal.
type SubscriptionPayment struct {
	Subscription
	Renewal   bool
	DueAt     int64
	Amount    Decimal
	Locked    uint64 // contract number of the locked coin
	Round     int64
	Agreement uint64 // of a renewal: contract number
	Reference uint64
}

func (p SubscriptionPayment) Arguments(a *Arena, _ uint8) Value {
	tail := []Value{Numeric(p.Amount), ContractID(p.Locked), RoundValue(a, p.Round), ContractID(p.Reference)}
	if !p.Renewal {
		return a.Record(initialPaymentShape, append([]Value{p.data(a), p.payData(a)}, tail...)...)
	}
	head := []Value{ContractID(p.Agreement), p.data(a), p.payData(a), Timestamp(p.DueAt)}
	return a.Record(renewalPaymentShape, append(head, tail...)...)
}

// TerminatedSubscription marks the end of a subscription.
type TerminatedSubscription struct {
	Subscription
	Reference uint64
}

func (p TerminatedSubscription) Arguments(a *Arena, _ uint8) Value {
	return a.Record(terminatedShape, p.data(a), ContractID(p.Reference))
}

// TokenTransfer is a transfer of the token standard.
type TokenTransfer struct {
	Sender, Receiver           Party
	Amount                     Decimal
	RequestedAt, ExecuteBefore int64
	Inputs                     []uint64 // contract numbers
	Reason                     string
	Meta                       []string // alternating keys and values in place of the reason
}

// Value is the transfer as contracts have it.
func (t TokenTransfer) Value(a *Arena) Value {
	return a.Record(instructionTransferShape, PartyValue(t.Sender), PartyValue(t.Receiver), Numeric(t.Amount),
		a.Record(InstrumentIDShape, PartyValue(Dso), Text(InstrumentAmuletInPayload)),
		Timestamp(t.RequestedAt), Timestamp(t.ExecuteBefore),
		ListOf(a, t.Inputs, ContractID), t.Metadata(a))
}

// Metadata is the metadata as contracts have it.
func (t TokenTransfer) Metadata(a *Arena) Value {
	if t.Meta == nil {
		return Metadata(a, ReasonMetaKey, t.Reason)
	}
	return textMetadata(a, t.Meta)
}

// textMetadata writes alternating keys and values, also empty ones.
func textMetadata(a *Arena, keysAndValues []string) Value {
	entries := a.Alloc(len(keysAndValues))
	for i, s := range keysAndValues {
		entries[i] = Text(s)
	}
	return a.Record(metadataShape, Value{Kind: KindTextMap, Elems: entries})
}

// Metadata takes alternating keys and values, sorted by key; keys of empty values
// are left out.
func Metadata(a *Arena, keysAndValues ...string) Value {
	var entries []Value
	for i := 0; i < len(keysAndValues); i += 2 {
		if keysAndValues[i+1] != "" {
			entries = append(entries, Text(keysAndValues[i]), Text(keysAndValues[i+1]))
		}
	}
	return a.Record(metadataShape, a.TextMap(entries...))
}

// TransferInstruction is a token transfer that waits for its receiver.
type TransferInstruction struct {
	Locked   uint64 // contract number of the locked coin
	Transfer TokenTransfer
}

func (p TransferInstruction) Arguments(a *Arena, _ uint8) Value {
	return a.Record(transferInstructionShape, ContractID(p.Locked), p.Transfer.Value(a))
}

func (p TransferInstruction) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso, p.Transfer.Sender), append(obs, p.Transfer.Receiver)
}
