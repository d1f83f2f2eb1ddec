package devnet

import (
	"encoding/base64"
	"strconv"
	"strings"
)

var (
	dsoRulesShape            = newShape("dso", "epoch", "svs", "offboardedSvs", "dsoDelegate", "config", "initialTrafficState", "isDevNet")
	svInfoShape              = newShape("name", "joinedAsOfRound", "svRewardWeight", "participantId")
	dsoConfigShape           = newShape("numUnclaimedRewardsThreshold", "numMemberTrafficContractsThreshold", "actionConfirmationTimeout", "svOnboardingRequestTimeout", "svOnboardingConfirmedTimeout", "voteRequestTimeout", "dsoDelegateInactiveTimeout", "synchronizerNodeConfigLimits", "maxTextLength", "decentralizedSynchronizer", "nextScheduledSynchronizerUpgrade")
	nodeConfigLimitsShape    = newShape("cometBft")
	cometBftLimitsShape      = newShape("maxNumCometBftNodes", "maxNumGovernanceKeys", "maxNumSequencingKeys", "maxNodeIdLength", "maxPubKeyLength")
	dsoSynchronizersShape    = newShape("synchronizers", "lastSynchronizerId", "activeSynchronizerId")
	synchronizerConfigShape  = newShape("state", "cometBftGenesisJson", "acsCommitmentReconciliationInterval")
	svNodeStateShape         = newShape("dso", "sv", "svName", "state")
	nodeStateShape           = newShape("synchronizerNodes")
	synchronizerNodeShape    = newShape("cometBft", "sequencer", "mediator", "scan", "legacySequencerConfig")
	cometBftShape            = newShape("nodes", "governanceKeys", "sequencingKeys")
	cometBftNodeShape        = newShape("validatorPubKey", "votingPower")
	publicKeyShape           = newShape("pubKey")
	sequencerShape           = newShape("migrationId", "sequencerId", "url", "availableAfter")
	mediatorShape            = newShape("mediatorId")
	scanShape                = newShape("publicUrl")
	cometBftKeyBytes         = 32
	unclaimedRewardsToMerge  = int64(unclaimedBeforeMerge)
	memberTrafficToMerge     = int64(purchasesBeforeMerge)
	actionConfirmationMicros = int64(3600e6)
)

var dsoBootstrapShape = newShape("dso", "sv1Party", "sv1Name", "sv1RewardWeight", "sv1ParticipantId", "sv1SynchronizerNodes", "round0Duration", "amuletConfig", "amuletPrice", "ansRulesConfig", "config", "initialTrafficState", "isDevNet")

// dsoBootstrap is the contract whose creation founds the network: all that it begins with.
type dsoBootstrap struct {
	onlyDSO
	founder svNodeState
	coin    amuletRules
	ans     ansRules
	rules   dsoRules
}

func (p dsoBootstrap) arguments(a *arena, version uint8) value {
	n, sv := p.rules.names, p.founder.sv
	return a.record(dsoBootstrapShape, partyValue(dso), partyValue(sv), text(n.svName(sv)), int64Value(svRewardWeight),
		text("PAR::"+n.participants[n.participantOf(sv, 0)]), p.founder.nodes(a), relTime(a, p.coin.tick.Microseconds()),
		p.coin.config(a, version), numeric(firstPrice), p.ans.config(a), p.rules.config(a), a.genMap(), boolean(true))
}

// dsoRules governs the network: its members and how they decide.
type dsoRules struct {
	onlyDSO
	names *names
}

func (p dsoRules) arguments(a *arena, _ uint8) value {
	svs := make([]party, p.names.superValidators.len())
	for i := range svs {
		svs[i] = p.names.superValidators.at(i)
	}
	var entries []value
	for _, sv := range p.names.sortParties(svs) {
		entries = append(entries, partyValue(sv), a.record(svInfoShape,
			text(p.names.svName(sv)), roundValue(a, 0), int64Value(svRewardWeight),
			text("PAR::"+p.names.participants[p.names.participantOf(sv, 0)])))
	}
	return a.record(dsoRulesShape, partyValue(dso), int64Value(1), a.genMap(entries...),
		a.genMap(), partyValue(p.names.superValidators.first), p.config(a), a.genMap(), boolean(true))
}

func (p dsoRules) config(a *arena) value {
	hour, synchronizer := actionConfirmationMicros, text(p.names.synchronizers[0])
	return a.record(dsoConfigShape, int64Value(unclaimedRewardsToMerge), int64Value(memberTrafficToMerge),
		relTime(a, hour), relTime(a, hour), relTime(a, hour), relTime(a, 7*24*hour), relTime(a, hour/60),
		a.record(nodeConfigLimitsShape, a.record(cometBftLimitsShape,
			int64Value(2), int64Value(2), int64Value(2), int64Value(50), int64Value(256))),
		int64Value(1024),
		a.record(dsoSynchronizersShape, a.genMap(synchronizer, a.record(synchronizerConfigShape,
			enum("DS_Operational"), text("{\"chain_id\":\"devnet\"}"), a.some(int64Value(1800)))),
			synchronizer, synchronizer),
		none())
}

// svNodeState says where the nodes of a super-validator are.
type svNodeState struct {
	onlyDSO
	names      *names
	sv         party
	configured bool // false: only the consensus node is known
	migration  int64
	available  int64 // time from which the sequencer can be used, µs
}

func (p svNodeState) arguments(a *arena, _ uint8) value {
	return a.record(svNodeStateShape, partyValue(dso), partyValue(p.sv), text(p.names.svName(p.sv)),
		a.record(nodeStateShape, p.nodes(a)))
}

// nodes is the configuration of the nodes by synchronizer.
func (p svNodeState) nodes(a *arena) value {
	return a.genMap(text(p.names.synchronizers[0]), p.config(a))
}

// config is the configuration of the nodes on the first synchronizer.
func (p svNodeState) config(a *arena) value {
	node, key := p.names.cometBftNode(p.sv)
	cometBft := a.record(cometBftShape,
		a.genMap(text(node), a.record(cometBftNodeShape, text(key), int64Value(1))),
		a.list(a.record(publicKeyShape, text(key))), a.list())
	if !p.configured {
		return a.record(synchronizerNodeShape, cometBft, none(), none(), none(), none())
	}
	return a.record(synchronizerNodeShape, cometBft,
		a.some(a.record(sequencerShape, int64Value(p.migration), text(p.names.sequencerOf(p.sv)),
			text(p.names.sequencerURL(p.sv, p.migration)), a.some(timestamp(p.available)))),
		a.some(a.record(mediatorShape, text(p.names.mediatorOf(p.sv)))),
		a.some(a.record(scanShape, text(p.names.scanURL(p.sv)))), none())
}

var (
	svRewardStateShape = newShape("dso", "svName", "state")
	rewardStateShape   = newShape("numRoundsMissed", "numRoundsCollected", "lastRoundCollected", "numCouponsIssued")
)

// svRewardState counts the rounds in which a super-validator was rewarded.
type svRewardState struct {
	onlyDSO
	name                            string
	missed, collected, last, issued int64
}

func (p svRewardState) arguments(a *arena, _ uint8) value {
	return a.record(svRewardStateShape, partyValue(dso), text(p.name), a.record(rewardStateShape,
		int64Value(p.missed), int64Value(p.collected), roundValue(a, p.last), int64Value(p.issued)))
}

// rewardedIn returns the state after so many coupons of a round.
func (p svRewardState) rewardedIn(round, coupons int64) svRewardState {
	p.missed += max(0, round-p.last-1)
	p.collected, p.last, p.issued = p.collected+1, round, p.issued+coupons
	return p
}

// svName is the name of a super-validator: the hint of its party.
func (n *names) svName(sv party) string {
	name, _, _ := strings.Cut(n.name(sv), partyNamespaceMark)
	return name
}

func (n *names) sequencerOf(sv party) string { return "SEQ::sequencer-" + n.name(sv) }
func (n *names) mediatorOf(sv party) string  { return "MED::mediator-" + n.name(sv) }

func (n *names) svHost(sv party) string {
	return "sv-" + strconv.Itoa(n.superValidators.index(sv)+1) + ".devnet.example"
}

func (n *names) scanURL(sv party) string { return "https://scan." + n.svHost(sv) }

func (n *names) sequencerURL(sv party, migration int64) string {
	return "https://sequencer-" + strconv.FormatInt(migration, 10) + "." + n.svHost(sv)
}

// cometBftNode is the id and the public key of a super-validator's consensus node.
func (n *names) cometBftNode(sv party) (id, key string) {
	h := n.ids.blobs.hash(^uint64(sv))
	dst := appendHash(nil, h)
	return string(dst[:40]), base64.StdEncoding.EncodeToString(h[:cometBftKeyBytes])
}
