package devnet

var (
	transferCommandShape  = newShape("dso", "sender", "receiver", "delegate", "amount", "expiresAt", "nonce", "description")
	commandCounterShape   = newShape("dso", "sender", "nextNonce")
	configStateShape      = newShape("dso", "holdingFeesOpenRoundNumber", "amuletPrice", "transferConfig", "targetArchiveAfter", "rewardCalculationVersion")
	transferConfigV2Shape = newShape("holdingFee", "maxNumInputs", "maxNumOutputs", "maxNumLockHolders", "tokenStandardMaxTTL")
)

// transferCommand is an external party's order to its delegate to send coins.
type transferCommand struct {
	sender, receiver, delegate party
	amount                     decimal
	expiresAt                  int64
	nonce                      int64
	description                string
}

func (p transferCommand) arguments(a *arena, _ uint8) value {
	return a.record(transferCommandShape, partyValue(dso), partyValue(p.sender), partyValue(p.receiver),
		partyValue(p.delegate), numeric(p.amount), timestamp(p.expiresAt), int64Value(p.nonce),
		optionalText(a, p.description))
}

func (p transferCommand) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.sender, dso), append(obs, p.delegate)
}

// commandCounter holds the nonce that the next transfer command of a sender must have.
type commandCounter struct {
	sender    party
	nextNonce int64
}

func (p commandCounter) arguments(a *arena, _ uint8) value {
	return a.record(commandCounterShape, partyValue(dso), partyValue(p.sender), int64Value(p.nextNonce))
}

func (p commandCounter) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, dso), append(obs, p.sender)
}

// configState is what external parties may refer to for a day, while rounds pass.
type configState struct {
	onlyDSO
	round        int64
	price        decimal
	archiveAfter int64
	byTraffic    bool // apps are rewarded by traffic
}

func (p configState) arguments(a *arena, version uint8) value {
	fields := []value{partyValue(dso), roundValue(a, p.round), numeric(p.price),
		a.record(transferConfigV2Shape, a.record(ratePerRoundShape, numeric(holdingFeeUSD)),
			int64Value(maxInputs), int64Value(100), int64Value(50)),
		timestamp(p.archiveAfter)}
	if version > 0 {
		rewards := "RewardVersion_FeaturedAppMarkers"
		if p.byTraffic {
			rewards = "RewardVersion_TrafficBasedAppRewards"
		}
		fields = append(fields, a.some(enum(rewards)))
	}
	return a.record(configStateShape, fields...)
}
