package model

var (
	transferCommandShape  = NewShape("dso", "sender", "receiver", "delegate", "amount", "expiresAt", "nonce", "description")
	commandCounterShape   = NewShape("dso", "sender", "nextNonce")
	configStateShape      = NewShape("dso", "holdingFeesOpenRoundNumber", "amuletPrice", "transferConfig", "targetArchiveAfter", "rewardCalculationVersion")
	transferConfigV2Shape = NewShape("holdingFee", "maxNumInputs", "maxNumOutputs", "maxNumLockHolders", "tokenStandardMaxTTL")
)

// TransferCommand is an external party's order to its delegate to send coins.
type TransferCommand struct {
	Sender, Receiver, Delegate Party
	Amount                     Decimal
	ExpiresAt                  int64
	Nonce                      int64
	Description                string
}

func (p TransferCommand) Arguments(a *Arena, _ uint8) Value {
	return a.Record(transferCommandShape, PartyValue(Dso), PartyValue(p.Sender), PartyValue(p.Receiver),
		PartyValue(p.Delegate), Numeric(p.Amount), Timestamp(p.ExpiresAt), Int64Value(p.Nonce),
		OptionalText(a, p.Description))
}

func (p TransferCommand) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.Sender, Dso), append(obs, p.Delegate)
}

// CommandCounter holds the nonce that the next transfer command of a sender must have.
type CommandCounter struct {
	Sender    Party
	NextNonce int64
}

func (p CommandCounter) Arguments(a *Arena, _ uint8) Value {
	return a.Record(commandCounterShape, PartyValue(Dso), PartyValue(p.Sender), Int64Value(p.NextNonce))
}

func (p CommandCounter) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso), append(obs, p.Sender)
}

// ConfigState is what external parties may refer to for a day, while rounds pass.
type ConfigState struct {
	onlyDSO
	Round        int64
	Price        Decimal
	ArchiveAfter int64
	ByTraffic    bool // apps are rewarded by traffic
}

func (p ConfigState) Arguments(a *Arena, version uint8) Value {
	fields := []Value{PartyValue(Dso), RoundValue(a, p.Round), Numeric(p.Price),
		a.Record(transferConfigV2Shape, a.Record(ratePerRoundShape, Numeric(HoldingFeeUSD)),
			Int64Value(MaxInputs), Int64Value(100), Int64Value(50)),
		Timestamp(p.ArchiveAfter)}
	if version > 0 {
		rewards := "RewardVersion_FeaturedAppMarkers"
		if p.ByTraffic {
			rewards = "RewardVersion_TrafficBasedAppRewards"
		}
		fields = append(fields, a.Some(Enum(rewards)))
	}
	return a.Record(configStateShape, fields...)
}
