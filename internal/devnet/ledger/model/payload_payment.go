package model

var (
	paymentRequestShape    = NewShape("sender", "receiverAmounts", "provider", "dso", "expiresAt", "description")
	receiverAmountShape    = NewShape("receiver", "amount")
	acceptedPaymentShape   = NewShape("sender", "amuletReceiverAmounts", "provider", "dso", "lockedAmulet", "round", "reference")
	coinsForReceiverShape  = NewShape("receiver", "amuletAmount")
	terminatedPaymentShape = NewShape("sender", "provider", "receivers", "reference")
)

// Share is what a payment is to give to one receiver.
type Share struct {
	Receiver Party
	Amount   Decimal
	InUSD    bool
}

// paymentAmount is an amount that somebody is to pay.
func paymentAmount(a *Arena, amount Decimal, inUSD bool) Value {
	unit := "AmuletUnit"
	if inUSD {
		unit = "USDUnit"
	}
	return a.Record(paymentAmountShape, Numeric(amount), Enum(unit))
}

// AppPayment is what an app, its provider, asks a sender to pay.
type AppPayment struct {
	Sender, Provider Party
	Shares           []Share
}

// Stakeholders are all who take part: an app can ask only those who have agreed to be asked.
func (p AppPayment) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(p.receivers(append(sig, p.Sender)), p.Provider), obs
}

func (p AppPayment) receivers(ps []Party) []Party {
	for _, s := range p.Shares {
		ps = append(ps, s.Receiver)
	}
	return ps
}

// PaymentRequest waits for the sender to pay or not.
type PaymentRequest struct {
	AppPayment
	ExpiresAt   int64 // µs
	Description string
}

func (p PaymentRequest) Arguments(a *Arena, _ uint8) Value {
	shares := ListOf(a, p.Shares, func(s Share) Value {
		return a.Record(receiverAmountShape, PartyValue(s.Receiver), paymentAmount(a, s.Amount, s.InUSD))
	})
	return a.Record(paymentRequestShape, PartyValue(p.Sender), shares, PartyValue(p.Provider), PartyValue(Dso),
		Timestamp(p.ExpiresAt), Text(p.Description))
}

// AcceptedPayment is one that was made: its coins are locked until the app takes them.
type AcceptedPayment struct {
	AppPayment // amounts are in coins
	Locked     uint64
	Round      int64
	Reference  uint64 // contract number of the request
}

func (p AcceptedPayment) Arguments(a *Arena, _ uint8) Value {
	shares := ListOf(a, p.Shares, func(s Share) Value {
		return a.Record(coinsForReceiverShape, PartyValue(s.Receiver), Numeric(s.Amount))
	})
	return a.Record(acceptedPaymentShape, PartyValue(p.Sender), shares, PartyValue(p.Provider), PartyValue(Dso),
		ContractID(p.Locked), RoundValue(a, p.Round), ContractID(p.Reference))
}

// TerminatedPayment says that a request has ended without a payment.
type TerminatedPayment struct {
	AppPayment
	Reference uint64 // contract number of the request
}

func (p TerminatedPayment) Arguments(a *Arena, _ uint8) Value {
	return a.Record(terminatedPaymentShape, PartyValue(p.Sender), PartyValue(p.Provider),
		ListOf(a, p.receivers(nil), PartyValue), ContractID(p.Reference))
}
