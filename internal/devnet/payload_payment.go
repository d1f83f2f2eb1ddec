package devnet

var (
	paymentRequestShape    = newShape("sender", "receiverAmounts", "provider", "dso", "expiresAt", "description")
	receiverAmountShape    = newShape("receiver", "amount")
	acceptedPaymentShape   = newShape("sender", "amuletReceiverAmounts", "provider", "dso", "lockedAmulet", "round", "reference")
	coinsForReceiverShape  = newShape("receiver", "amuletAmount")
	terminatedPaymentShape = newShape("sender", "provider", "receivers", "reference")
)

// share is what a payment is to give to one receiver.
type share struct {
	receiver party
	amount   decimal
	inUSD    bool
}

func (s *share) value(a *arena) value {
	unit := "AmuletUnit"
	if s.inUSD {
		unit = "USDUnit"
	}
	return a.record(receiverAmountShape, partyValue(s.receiver), a.record(paymentAmountShape, numeric(s.amount), enum(unit)))
}

// appPayment is what an app, its provider, asks a sender to pay.
type appPayment struct {
	sender, provider party
	shares           []share
}

// stakeholders are all who take part: an app can ask only those who have agreed to be asked.
func (p appPayment) stakeholders(sig, obs []party) ([]party, []party) {
	return append(p.receivers(append(sig, p.sender)), p.provider), obs
}

func (p appPayment) receivers(ps []party) []party {
	for _, s := range p.shares {
		ps = append(ps, s.receiver)
	}
	return ps
}

// paymentRequest waits for the sender to pay or not.
type paymentRequest struct {
	appPayment
	expiresAt   int64 // µs
	description string
}

func (p paymentRequest) arguments(a *arena, _ uint8) value {
	shares := make([]value, len(p.shares))
	for i := range p.shares {
		shares[i] = p.shares[i].value(a)
	}
	return a.record(paymentRequestShape, partyValue(p.sender), a.list(shares...), partyValue(p.provider), partyValue(dso),
		timestamp(p.expiresAt), text(p.description))
}

// acceptedPayment is one that was made: its coins are locked until the app takes them.
type acceptedPayment struct {
	appPayment // amounts are in coins
	locked     uint64
	round      int64
	reference  uint64 // contract number of the request
}

func (p acceptedPayment) arguments(a *arena, _ uint8) value {
	shares := make([]value, len(p.shares))
	for i, s := range p.shares {
		shares[i] = a.record(coinsForReceiverShape, partyValue(s.receiver), numeric(s.amount))
	}
	return a.record(acceptedPaymentShape, partyValue(p.sender), a.list(shares...), partyValue(p.provider), partyValue(dso),
		contractID(p.locked), roundValue(a, p.round), contractID(p.reference))
}

// terminatedPayment says that a request has ended without a payment.
type terminatedPayment struct {
	appPayment
	reference uint64 // contract number of the request
}

func (p terminatedPayment) arguments(a *arena, _ uint8) value {
	receivers := make([]value, len(p.shares))
	for i, s := range p.shares {
		receivers[i] = partyValue(s.receiver)
	}
	return a.record(terminatedPaymentShape, partyValue(p.sender), partyValue(p.provider), a.list(receivers...), contractID(p.reference))
}
