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

func (s *Share) value(a *Arena) Value {
	unit := "AmuletUnit"
	if s.InUSD {
		unit = "USDUnit"
	}
	return a.Record(receiverAmountShape, PartyValue(s.Receiver), a.Record(paymentAmountShape, Numeric(s.Amount), Enum(unit)))
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
	shares := make([]Value, len(p.Shares))
	for i := range p.Shares {
		shares[i] = p.Shares[i].value(a)
	}
	return a.Record(paymentRequestShape, PartyValue(p.Sender), a.List(shares...), PartyValue(p.Provider), PartyValue(Dso),
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
	shares := make([]Value, len(p.Shares))
	for i, s := range p.Shares {
		shares[i] = a.Record(coinsForReceiverShape, PartyValue(s.Receiver), Numeric(s.Amount))
	}
	return a.Record(acceptedPaymentShape, PartyValue(p.Sender), a.List(shares...), PartyValue(p.Provider), PartyValue(Dso),
		ContractID(p.Locked), RoundValue(a, p.Round), ContractID(p.Reference))
}

// TerminatedPayment says that a request has ended without a payment.
type TerminatedPayment struct {
	AppPayment
	Reference uint64 // contract number of the request
}

func (p TerminatedPayment) Arguments(a *Arena, _ uint8) Value {
	receivers := make([]Value, len(p.Shares))
	for i, s := range p.Shares {
		receivers[i] = PartyValue(s.Receiver)
	}
	return a.Record(terminatedPaymentShape, PartyValue(p.Sender), PartyValue(p.Provider), a.List(receivers...), ContractID(p.Reference))
}
