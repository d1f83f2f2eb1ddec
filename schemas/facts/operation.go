package facts

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Operation names a kind of fact.
type Operation string

const (
	// DSO is what the upstream's operator says of itself and of the governance party.
	DSO Operation = "dso"
	// Serial is the serial of the active physical synchronizer.
	Serial Operation = "active-synchronizer-serial"
	// Sequencers and BFTSequencers are where the sequencers are.
	Sequencers    Operation = "dso-sequencers"
	BFTSequencers Operation = "sv-bft-sequencers"
	// Scans is where the scan services are.
	Scans Operation = "scans"
	// InstanceNames is how the network, its coin and its name service are called.
	InstanceNames Operation = "app-instance-names"
	// Schedule is the next migration; LSU and RollForwardLSU are upgrades without one.
	Schedule       Operation = "migrations/schedule"
	LSU            Operation = "lsu"
	RollForwardLSU Operation = "roll-forward-lsu"
	// Identities and Bootstrapping are topology of a synchronizer, by the beginning of
	// its id.
	Identities    Operation = "synchronizer-identities"
	Bootstrapping Operation = "synchronizer-bootstrapping-transactions"
	// Participants hosts a party, by synchronizer and party.
	Participants Operation = "participant-ids"
	// RewardTotals, RewardRoot and RewardBatch are the reward accounting of a round.
	RewardTotals Operation = "reward-accounting/activity-totals"
	RewardRoot   Operation = "reward-accounting/root-hash"
	RewardBatch  Operation = "reward-accounting/batches"
)

// Kind describes an operation.
type Kind struct {
	Operation Operation
	// paths has the upstream's paths, of which the first that it has is asked, with %s
	// for each argument. Parameters are the number of arguments.
	paths      []string
	Parameters int
	// Own means that each upstream may give another answer, because it speaks of itself.
	Own bool
	// Immutable means that an answer never changes, once it says anything.
	Immutable bool
	shape     shape
}

const rewardRounds = "/v0/internal/reward-accounting-process/rounds/"

var kinds = []Kind{
	{Operation: DSO, paths: []string{"/v0/dso"}, Own: true, shape: object(
		required("dso_party_id", text), required("sv_party_id", text), required("sv_user", text), required("voting_threshold", integer),
		optional("initial_round", text))},
	{Operation: Serial, paths: []string{"/v0/active-synchronizer-serial"}, shape: object(required("serial", integer))},
	{Operation: Sequencers, paths: []string{"/v0/dso-sequencers"}, shape: object(required("domainSequencers", list(object(
		required("domainId", text), required("sequencers", list(object(
			required("migrationId", integer), optional("synchronizerSerial", integer), required("id", text), required("url", text),
			required("svName", text), required("availableAfter", text))))))))},
	{Operation: BFTSequencers, paths: []string{"/v0/sv-bft-sequencers"}, shape: object(required("bftSequencers", list(object(
		optional("serialId", integer), optional("migrationId", integer), required("id", text), required("p2pUrl", text)))))},
	{Operation: Scans, paths: []string{"/v0/scans"}, shape: object(required("scans", list(object(
		required("domainId", text), required("scans", list(object(required("publicUrl", text), required("svName", text))))))))},
	{Operation: InstanceNames, paths: []string{"/v0/splice-instance-names", "/v0/app-instance-names"}, shape: object(
		required("network_name", text), required("network_favicon_url", text), required("coin_name", text).or("amulet_name"),
		required("coin_name_acronym", text).or("amulet_name_acronym"), required("name_service_name", text),
		required("name_service_name_acronym", text))},
	{Operation: Schedule, paths: []string{"/v0/migrations/schedule"}, shape: object(required("time", instant), required("migration_id", integer))},
	{Operation: LSU, paths: []string{"/v0/lsu"}, shape: object(optional("lsu", object(
		required("topologyFreezeTime", text), required("upgradeTime", text), required("successorPhysicalSynchronizerId", text))))},
	{Operation: RollForwardLSU, paths: []string{"/v0/roll-forward-lsu"}, shape: object(optional("rollForwardLsu", object(
		required("upgradeTime", text), required("currentPhysicalSynchronizerId", text), required("successorPhysicalSynchronizerId", text))))},
	{Operation: Identities, paths: []string{"/v0/synchronizer-identities/%s"}, Parameters: 1, shape: object(
		required("sequencer_id", text), required("sequencer_identity_transactions", list(text)),
		required("mediator_id", text), required("mediator_identity_transactions", list(text)))},
	{Operation: Bootstrapping, paths: []string{"/v0/synchronizer-bootstrapping-transactions/%s"}, Parameters: 1, shape: object(
		required("domain_parameters", text), required("sequencer_domain_state", text), required("mediator_domain_state", text))},
	{Operation: Participants, paths: []string{"/v1/domains/%s/parties/%s/participant-id", "/v0/domains/%s/parties/%s/participant-id"},
		Parameters: 2, shape: oneOf(object(required("participant_ids", list(text))), object(required("participant_id", text)))},
	{Operation: RewardTotals, Immutable: true, paths: []string{rewardRounds + "%s/activity-totals"}, Parameters: 1, shape: status(
		required("round_number", integer), required("total_app_activity_weight", integer), required("active_parties_count", integer),
		required("activity_records_count", integer), required("rewarded_app_provider_parties_count", integer),
		required("total_app_reward_minting_allowance", text), required("total_app_reward_thresholded", text),
		required("total_app_reward_unclaimed", text))},
	{Operation: RewardRoot, Immutable: true, paths: []string{rewardRounds + "%s/root-hash"}, Parameters: 1,
		shape: status(required("round_number", integer), required("root_hash", text))},
	{Operation: RewardBatch, Immutable: true, paths: []string{rewardRounds + "%s/batches/%s"}, Parameters: 2, shape: oneOf(
		object(required("batch_type", only("BatchOfBatches")), required("child_hashes", list(text))),
		object(required("batch_type", only("BatchOfMintingAllowances")),
			required("minting_allowances", list(object(required("provider", text), required("amount", text))))))},
}

// SynchronizerName is the part of a synchronizer's id before its fingerprint, by which the
// operations Identities and Bootstrapping name it.
func SynchronizerName(id string) string {
	name, _, _ := strings.Cut(id, "::")
	return name
}

// Fixed are the operations without arguments.
func Fixed() []Key {
	var keys []Key
	for _, k := range kinds {
		if k.Parameters == 0 {
			keys = append(keys, Of(k.Operation))
		}
	}
	return keys
}

// KindOf describes an operation; ok is false for one that is none.
func KindOf(operation Operation) (k Kind, ok bool) {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Operation == operation })
	if i < 0 {
		return Kind{}, false
	}
	return kinds[i], true
}

// Paths are the paths below an upstream's base at which a key is asked for, percent-encoded;
// an upstream of another age may have but one of them.
func (k Key) Paths() ([]string, error) {
	kind, ok := KindOf(k.Operation)
	if !ok {
		return nil, fmt.Errorf("%q is not a kind of fact", k.Operation)
	}
	arguments := []string{}
	if k.Arguments != "" {
		arguments = strings.Split(k.Arguments, "/")
	}
	if len(arguments) != kind.Parameters {
		return nil, fmt.Errorf("fact %s needs %d arguments", k, kind.Parameters)
	}
	var values []any
	for _, a := range arguments {
		if _, err := url.PathUnescape(a); err != nil {
			return nil, fmt.Errorf("argument of fact %s: %w", k, err)
		}
		values = append(values, a)
	}
	paths := make([]string, len(kind.paths))
	for i, p := range kind.paths {
		paths[i] = fmt.Sprintf(p, values...)
	}
	return paths, nil
}
