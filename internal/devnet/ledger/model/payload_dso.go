package model

import (
	"cmp"
	"encoding/base64"
	"strconv"
	"strings"
)

var (
	dsoRulesShape            = NewShape("dso", "epoch", "svs", "offboardedSvs", "dsoDelegate", "config", "initialTrafficState", "isDevNet")
	svInfoShape              = NewShape("name", "joinedAsOfRound", "svRewardWeight", "participantId")
	dsoConfigShape           = NewShape("numUnclaimedRewardsThreshold", "numMemberTrafficContractsThreshold", "actionConfirmationTimeout", "svOnboardingRequestTimeout", "svOnboardingConfirmedTimeout", "voteRequestTimeout", "dsoDelegateInactiveTimeout", "synchronizerNodeConfigLimits", "maxTextLength", "decentralizedSynchronizer", "nextScheduledSynchronizerUpgrade")
	nodeConfigLimitsShape    = NewShape("cometBft")
	cometBftLimitsShape      = NewShape("maxNumCometBftNodes", "maxNumGovernanceKeys", "maxNumSequencingKeys", "maxNodeIdLength", "maxPubKeyLength")
	dsoSynchronizersShape    = NewShape("synchronizers", "lastSynchronizerId", "activeSynchronizerId")
	synchronizerConfigShape  = NewShape("state", "cometBftGenesisJson", "acsCommitmentReconciliationInterval")
	svNodeStateShape         = NewShape("dso", "sv", "svName", "state")
	nodeStateShape           = NewShape("synchronizerNodes")
	synchronizerNodeShape    = NewShape("cometBft", "sequencer", "mediator", "scan", "legacySequencerConfig")
	cometBftShape            = NewShape("nodes", "governanceKeys", "sequencingKeys")
	cometBftNodeShape        = NewShape("validatorPubKey", "votingPower")
	publicKeyShape           = NewShape("pubKey")
	sequencerShape           = NewShape("migrationId", "sequencerId", "url", "availableAfter")
	mediatorShape            = NewShape("mediatorId")
	scanShape                = NewShape("publicUrl")
	cometBftKeyBytes         = 32
	unclaimedRewardsToMerge  = int64(UnclaimedBeforeMerge)
	memberTrafficToMerge     = int64(PurchasesBeforeMerge)
	actionConfirmationMicros = int64(3600e6)
)

var dsoBootstrapShape = NewShape("dso", "sv1Party", "sv1Name", "sv1RewardWeight", "sv1ParticipantId", "sv1SynchronizerNodes", "round0Duration", "amuletConfig", "amuletPrice", "ansRulesConfig", "config", "initialTrafficState", "isDevNet")

// DsoBootstrap is the contract whose creation founds the network: all that it begins with.
type DsoBootstrap struct {
	onlyDSO
	Founder SvNodeState
	Coin    AmuletRules
	Ans     AnsRules
	Rules   DsoRules
}

func (p DsoBootstrap) Arguments(a *Arena, version uint8) Value {
	n, sv := p.Rules.Names, p.Founder.Sv
	return a.Record(dsoBootstrapShape, PartyValue(Dso), PartyValue(sv), Text(n.SvName(sv)), Int64Value(SvRewardWeight),
		Text("PAR::"+n.Participants[n.ParticipantOf(sv, 0)]), p.Founder.nodes(a), relTime(a, p.Coin.Tick.Microseconds()),
		p.Coin.Config(a, version), Numeric(FirstPrice), p.Ans.config(a), p.Rules.config(a), a.GenMap(), Boolean(true))
}

// DsoRules governs the network: its members and how they decide.
type DsoRules struct {
	onlyDSO
	Names *Names
	// weights are those of rewards that differ from SvRewardWeight, by super-validator.
	weights map[Party]int64
}

// Weight is what a super-validator gets of the rewards, WithWeight the rules with another one.
func (p DsoRules) Weight(sv Party) int64 { return cmp.Or(p.weights[sv], SvRewardWeight) }
func (p DsoRules) WithWeight(w RewardWeight) DsoRules {
	weights := map[Party]int64{w.Sv: w.Weight}
	for sv, weight := range p.weights {
		if sv != w.Sv {
			weights[sv] = weight
		}
	}
	p.weights = weights
	return p
}

func (p DsoRules) Arguments(a *Arena, _ uint8) Value {
	svs := make([]Party, p.Names.SuperValidators.Len())
	for i := range svs {
		svs[i] = p.Names.SuperValidators.At(i)
	}
	var entries []Value
	for _, sv := range p.Names.SortParties(svs) {
		entries = append(entries, PartyValue(sv), a.Record(svInfoShape,
			Text(p.Names.SvName(sv)), RoundValue(a, 0), Int64Value(p.Weight(sv)),
			Text("PAR::"+p.Names.Participants[p.Names.ParticipantOf(sv, 0)])))
	}
	return a.Record(dsoRulesShape, PartyValue(Dso), Int64Value(1), a.GenMap(entries...),
		a.GenMap(), PartyValue(p.Names.SuperValidators.First), p.config(a), a.GenMap(), Boolean(true))
}

func (p DsoRules) config(a *Arena) Value {
	hour, synchronizer := actionConfirmationMicros, Text(p.Names.Synchronizers[0])
	return a.Record(dsoConfigShape, Int64Value(unclaimedRewardsToMerge), Int64Value(memberTrafficToMerge),
		relTime(a, hour), relTime(a, hour), relTime(a, hour), relTime(a, 7*24*hour), relTime(a, hour/60),
		a.Record(nodeConfigLimitsShape, a.Record(cometBftLimitsShape,
			Int64Value(2), Int64Value(2), Int64Value(2), Int64Value(50), Int64Value(256))),
		Int64Value(1024),
		a.Record(dsoSynchronizersShape, a.GenMap(synchronizer, a.Record(synchronizerConfigShape,
			Enum("DS_Operational"), Text("{\"chain_id\":\"devnet\"}"), a.Some(Int64Value(1800)))),
			synchronizer, synchronizer),
		None())
}

// SvNodeState says where the nodes of a super-validator are.
type SvNodeState struct {
	onlyDSO
	Names      *Names
	Sv         Party
	Configured bool // false: only the consensus node is known
	Migration  int64
	Available  int64 // time from which the sequencer can be used, µs
}

func (p SvNodeState) Arguments(a *Arena, _ uint8) Value {
	return a.Record(svNodeStateShape, PartyValue(Dso), PartyValue(p.Sv), Text(p.Names.SvName(p.Sv)),
		a.Record(nodeStateShape, p.nodes(a)))
}

// nodes is the configuration of the nodes by synchronizer.
func (p SvNodeState) nodes(a *Arena) Value {
	return a.GenMap(Text(p.Names.Synchronizers[0]), p.Config(a))
}

// Config is the configuration of the nodes on the first synchronizer.
func (p SvNodeState) Config(a *Arena) Value {
	node, key := p.Names.cometBftNode(p.Sv)
	cometBft := a.Record(cometBftShape,
		a.GenMap(Text(node), a.Record(cometBftNodeShape, Text(key), Int64Value(1))),
		a.List(a.Record(publicKeyShape, Text(key))), a.List())
	if !p.Configured {
		return a.Record(synchronizerNodeShape, cometBft, None(), None(), None(), None())
	}
	return a.Record(synchronizerNodeShape, cometBft,
		a.Some(a.Record(sequencerShape, Int64Value(p.Migration), Text(p.Names.SequencerOf(p.Sv)),
			Text(p.Names.SequencerURL(p.Sv, p.Migration)), a.Some(Timestamp(p.Available)))),
		a.Some(a.Record(mediatorShape, Text(p.Names.MediatorOf(p.Sv)))),
		a.Some(a.Record(scanShape, Text(p.Names.ScanURL(p.Sv)))), None())
}

var (
	svRewardStateShape = NewShape("dso", "svName", "state")
	rewardStateShape   = NewShape("numRoundsMissed", "numRoundsCollected", "lastRoundCollected", "numCouponsIssued")
)

// SvRewardState counts the rounds in which a super-validator was rewarded.
type SvRewardState struct {
	onlyDSO
	Name                            string
	missed, collected, last, issued int64
}

func (p SvRewardState) Arguments(a *Arena, _ uint8) Value {
	return a.Record(svRewardStateShape, PartyValue(Dso), Text(p.Name), a.Record(rewardStateShape,
		Int64Value(p.missed), Int64Value(p.collected), RoundValue(a, p.last), Int64Value(p.issued)))
}

// RewardedIn returns the state after so many coupons of a round.
func (p SvRewardState) RewardedIn(round, coupons int64) SvRewardState {
	p.missed += max(0, round-p.last-1)
	p.collected, p.last, p.issued = p.collected+1, round, p.issued+coupons
	return p
}

// SvName is the name of a super-validator: the hint of its party.
func (n *Names) SvName(sv Party) string {
	name, _, _ := strings.Cut(n.Name(sv), PartyNamespaceMark)
	return name
}

// SequencerOf is the id of a super-validator's sequencer, MediatorOf that of its mediator.
func (n *Names) SequencerOf(sv Party) string { return "SEQ::sequencer-" + n.Name(sv) }
func (n *Names) MediatorOf(sv Party) string  { return "MED::mediator-" + n.Name(sv) }

// SvHost is the host name of a super-validator's services.
func (n *Names) SvHost(sv Party) string {
	return "sv-" + strconv.Itoa(n.SuperValidators.Index(sv)+1) + ".devnet.example"
}

// ScanURL is where a super-validator's scan is.
func (n *Names) ScanURL(sv Party) string { return "https://scan." + n.SvHost(sv) }

// SequencerURL is where a super-validator's sequencer of a migration is.
func (n *Names) SequencerURL(sv Party, migration int64) string {
	return "https://sequencer-" + strconv.FormatInt(migration, 10) + "." + n.SvHost(sv)
}

// cometBftNode is the id and the public key of a super-validator's consensus node.
func (n *Names) cometBftNode(sv Party) (id, key string) {
	h := n.IDs.blobs.Hash(^uint64(sv))
	dst := AppendHash(nil, h)
	return string(dst[:40]), base64.StdEncoding.EncodeToString(h[:cometBftKeyBytes])
}
