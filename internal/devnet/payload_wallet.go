package devnet

var (
	ansEntryShape             = newShape("user", "dso", "name", "url", "description", "expiresAt")
	ansEntryContextShape      = newShape("dso", "user", "name", "url", "description", "reference")
	subscriptionRequestShape  = newShape("subscriptionData", "payData")
	subscriptionDataShape     = newShape("sender", "receiver", "provider", "dso", "description")
	subscriptionPayDataShape  = newShape("paymentAmount", "paymentInterval", "paymentDuration")
	paymentAmountShape        = newShape("amount", "unit")
	agreementShape            = newShape("subscriptionData", "reference")
	subscriptionIdleShape     = newShape("subscription", "subscriptionData", "payData", "nextPaymentDueAt", "reference")
	initialPaymentShape       = newShape("subscriptionData", "payData", "targetAmount", "lockedAmulet", "round", "reference")
	renewalPaymentShape       = newShape("subscription", "subscriptionData", "payData", "thisPaymentDueAt", "targetAmount", "lockedAmulet", "round", "reference")
	terminatedShape           = newShape("subscriptionData", "reference")
	transferInstructionShape  = newShape("lockedAmulet", "transfer")
	instructionTransferShape  = newShape("sender", "receiver", "amount", "instrumentId", "requestedAt", "executeBefore", "inputHoldingCids", "meta")
	instrumentIDShape         = newShape("admin", "id")
	metadataShape             = newShape("values")
	reasonMetaKey             = "splice.lfdecentralizedtrust.org/reason"
	senderMetaKey             = "splice.lfdecentralizedtrust.org/sender"
	txKindMetaKey             = "splice.lfdecentralizedtrust.org/tx-kind"
	instrumentAmuletInPayload = "Amulet"
)

// nameRequest is what a user asked the name service for.
type nameRequest struct {
	user, validator        party
	name, url, description string
}

// ansEntry is a name that a user owns until it expires.
type ansEntry struct {
	nameRequest
	expiresAt int64
}

func (p ansEntry) arguments(a *arena, _ uint8) value {
	return a.record(ansEntryShape, partyValue(p.user), partyValue(dso), text(p.name), text(p.url),
		text(p.description), timestamp(p.expiresAt))
}

func (p ansEntry) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.user, dso), obs
}

// ansEntryContext joins a name with the subscription that pays for it.
type ansEntryContext struct {
	nameRequest
	reference uint64 // contract number of the subscription request
}

func (p ansEntryContext) arguments(a *arena, _ uint8) value {
	return a.record(ansEntryContextShape, partyValue(dso), partyValue(p.user), text(p.name), text(p.url),
		text(p.description), contractID(p.reference))
}

func (p ansEntryContext) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso, p.user), obs
}

// subscription is what all contracts of one subscription repeat.
type subscription struct {
	nameRequest        // the name is "" where somebody else than the name service is paid
	lifetime    int64  // of the name, µs
	receiver    party  // of the payments
	provider    party  // of what is paid for
	description string // of it
	amount      decimal
	inUSD       bool
	// interval is the time between two payments, duration how early one can be made, µs.
	interval, duration int64
}

// nameSubscription is one of the name service.
func nameSubscription(n nameRequest, lifetime int64) subscription {
	return subscription{nameRequest: n, lifetime: lifetime, receiver: dso, provider: dso, description: "CNS entry: \"" + n.name + "\"",
		amount: entryFeeUSD, inUSD: true, interval: lifetime, duration: lifetime / 3}
}

func (p subscription) data(a *arena) value {
	return a.record(subscriptionDataShape, partyValue(p.user), partyValue(p.receiver), partyValue(p.provider),
		partyValue(dso), text(p.description))
}

func (p subscription) payData(a *arena) value {
	unit := "AmuletUnit"
	if p.inUSD {
		unit = "USDUnit"
	}
	return a.record(subscriptionPayDataShape, a.record(paymentAmountShape, numeric(p.amount), enum(unit)),
		relTime(a, p.interval), relTime(a, p.duration))
}

func (p subscription) stakeholders(sig, obs []party) ([]party, []party) {
	if p.receiver == dso && p.provider == dso {
		return append(sig, p.user, dso), obs
	}
	return append(sig, p.user, p.receiver, p.provider), obs
}

// isPrivate reports whether the governance party has no part in it.
func (p subscription) isPrivate() bool { return p.receiver != dso && p.provider != dso }

type subscriptionRequest struct{ subscription }

func (p subscriptionRequest) arguments(a *arena, _ uint8) value {
	return a.record(subscriptionRequestShape, p.data(a), p.payData(a))
}

// agreement is the Subscription: it lasts from the first payment to the end.
type agreement struct {
	subscription
	reference uint64 // contract number of the request
}

func (p agreement) arguments(a *arena, _ uint8) value {
	return a.record(agreementShape, p.data(a), contractID(p.reference))
}

type subscriptionIdle struct {
	subscription
	dueAt     int64
	agreement uint64 // contract number
	reference uint64
}

func (p subscriptionIdle) arguments(a *arena, _ uint8) value {
	return a.record(subscriptionIdleShape, contractID(p.agreement), p.data(a), p.payData(a),
		timestamp(p.dueAt), contractID(p.reference))
}

// subscriptionPayment is a payment that waits to be collected: the first one of a
// subscription, or a renewal.
type subscriptionPayment struct {
	subscription
	renewal   bool
	dueAt     int64
	amount    decimal
	locked    uint64 // contract number of the locked coin
	round     int64
	agreement uint64 // of a renewal: contract number
	reference uint64
}

func (p subscriptionPayment) arguments(a *arena, _ uint8) value {
	tail := []value{numeric(p.amount), contractID(p.locked), roundValue(a, p.round), contractID(p.reference)}
	if !p.renewal {
		return a.record(initialPaymentShape, append([]value{p.data(a), p.payData(a)}, tail...)...)
	}
	head := []value{contractID(p.agreement), p.data(a), p.payData(a), timestamp(p.dueAt)}
	return a.record(renewalPaymentShape, append(head, tail...)...)
}

// terminatedSubscription marks the end of a subscription.
type terminatedSubscription struct {
	subscription
	reference uint64
}

func (p terminatedSubscription) arguments(a *arena, _ uint8) value {
	return a.record(terminatedShape, p.data(a), contractID(p.reference))
}

// tokenTransfer is a transfer of the token standard.
type tokenTransfer struct {
	sender, receiver           party
	amount                     decimal
	requestedAt, executeBefore int64
	inputs                     []uint64 // contract numbers
	reason                     string
	meta                       []string // alternating keys and values in place of the reason
}

func (t tokenTransfer) value(a *arena) value {
	inputs := a.alloc(len(t.inputs))
	for i, n := range t.inputs {
		inputs[i] = contractID(n)
	}
	return a.record(instructionTransferShape, partyValue(t.sender), partyValue(t.receiver), numeric(t.amount),
		a.record(instrumentIDShape, partyValue(dso), text(instrumentAmuletInPayload)),
		timestamp(t.requestedAt), timestamp(t.executeBefore),
		value{kind: kindList, elems: inputs}, t.metadata(a))
}

func (t tokenTransfer) metadata(a *arena) value {
	if t.meta == nil {
		return metadata(a, reasonMetaKey, t.reason)
	}
	return textMetadata(a, t.meta)
}

// textMetadata writes alternating keys and values, also empty ones.
func textMetadata(a *arena, keysAndValues []string) value {
	entries := a.alloc(len(keysAndValues))
	for i, s := range keysAndValues {
		entries[i] = text(s)
	}
	return a.record(metadataShape, value{kind: kindTextMap, elems: entries})
}

// metadata takes alternating keys and values, sorted by key; keys of empty values
// are left out.
func metadata(a *arena, keysAndValues ...string) value {
	var entries []value
	for i := 0; i < len(keysAndValues); i += 2 {
		if keysAndValues[i+1] != "" {
			entries = append(entries, text(keysAndValues[i]), text(keysAndValues[i+1]))
		}
	}
	return a.record(metadataShape, a.textMap(entries...))
}

// transferInstruction is a token transfer that waits for its receiver.
type transferInstruction struct {
	locked   uint64 // contract number of the locked coin
	transfer tokenTransfer
}

func (p transferInstruction) arguments(a *arena, _ uint8) value {
	return a.record(transferInstructionShape, contractID(p.locked), p.transfer.value(a))
}

func (p transferInstruction) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso, p.transfer.sender), append(obs, p.transfer.receiver)
}
