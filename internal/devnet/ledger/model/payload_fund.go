package model

var (
	activityRecordShape = NewShape("dso", "beneficiary", "amount", "reason", "expiresAt")
	unclaimedFundShape  = NewShape("dso", "amount")
	fundCouponShape     = NewShape("dso", "beneficiary", "fundManager", "amount", "expiresAt", "reason", "mintAfter")
)

// Grant is an amount that a party may collect as an input of a transfer until it
// expires, whatever the round.
type Grant struct {
	Beneficiary Party
	Amount      Decimal
	ExpiresAt   int64
	Reason      string
}

func (g Grant) Owner() Party         { return g.Beneficiary }
func (g Grant) Worth(*Round) Decimal { return g.Amount }

// ActivityRecord grants an unclaimed reward to a party.
type ActivityRecord struct{ Grant }

func (p ActivityRecord) Arguments(a *Arena, _ uint8) Value {
	return a.Record(activityRecordShape, PartyValue(Dso), PartyValue(p.Beneficiary), Numeric(p.Amount),
		Text(p.Reason), Timestamp(p.ExpiresAt))
}

func (p ActivityRecord) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso), append(obs, p.Beneficiary)
}

func (ActivityRecord) Input() string         { return "InputUnclaimedActivityRecord" }
func (ActivityRecord) Expiry(a *Arena) Value { return a.Record(EmptyRecordShape) }

// UnallocatedRecord is a grant for which no unclaimed reward was burned yet. It has the
// fields of the record that it becomes.
type UnallocatedRecord struct{ ActivityRecord }

func (UnallocatedRecord) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso), obs
}

// UnclaimedFund is a share of the issuance that the manager of the development fund
// may give away.
type UnclaimedFund struct {
	onlyDSO
	Amount Decimal
}

func (p UnclaimedFund) Arguments(a *Arena, _ uint8) Value {
	return a.Record(unclaimedFundShape, PartyValue(Dso), Numeric(p.Amount))
}

// FundCoupon grants a part of the development fund to a party.
type FundCoupon struct {
	Grant
	Manager Party
	// MintAfter is when it can be minted, 0 for at once.
	MintAfter int64
}

func (p FundCoupon) Arguments(a *Arena, _ uint8) Value {
	fields := []Value{PartyValue(Dso), PartyValue(p.Beneficiary), PartyValue(p.Manager), Numeric(p.Amount), Timestamp(p.ExpiresAt), Text(p.Reason)}
	if p.MintAfter != 0 {
		fields = append(fields, a.Some(Timestamp(p.MintAfter)))
	}
	return a.Record(fundCouponShape, fields...)
}

func (p FundCoupon) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso), append(obs, p.Beneficiary, p.Manager)
}

func (FundCoupon) Input() string         { return "InputDevelopmentFundCoupon" }
func (FundCoupon) Expiry(a *Arena) Value { return a.Record(EmptyRecordShape) }
