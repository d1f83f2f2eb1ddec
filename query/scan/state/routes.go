package state

import (
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// contractRoutes answer from contracts and their history.
func (a *API) contractRoutes() []query.Route {
	coinRules := a.governance.rules(template.CoinRules, "cached_coin_rules_contract_id", "cached_coin_rules_domain_id", "coin_rules_update", "coin rules")
	externalRules := a.governance.rules(template.ExternalPartyCoinRules, "cached_external_party_coin_rules_contract_id", "cached_external_party_coin_rules_domain_id",
		"external_party_coin_rules_update", "external party coin rules")
	ansRules := a.governance.rules(template.NameRules, "cached_ans_rules_contract_id", "cached_ans_rules_domain_id", "ans_rules_update", "name service rules")
	byProvider := func(q *history.StateQuery, provider string) { q.Observer = provider }
	byID := func(q *history.StateQuery, id string) { q.ContractID = id }
	return []query.Route{
		{Method: "POST", Path: "/v0/open-and-issuing-mining-rounds", Name: "scan.rounds", Handle: a.rounds.openAndIssuing},
		{Method: "GET", Path: "/v0/closed-rounds", Name: "scan.closed_rounds", Handle: a.rounds.closed},
		{Method: "GET", Path: "/v0/coin-config-for-round", Name: "scan.round_config", Handle: a.rounds.config},
		{Method: "GET", Path: "/v0/dso-party-id", Name: "scan.dso_party_id", Handle: a.governance.partyID},
		{Method: "GET", Path: "/v0/dso", Name: "scan.dso", Handle: a.governance.info},
		{Method: "POST", Path: "/v0/coin-rules", Name: "scan.coin_rules", Handle: coinRules},
		{Method: "POST", Path: "/v0/external-party-coin-rules", Name: "scan.external_party_coin_rules", Handle: externalRules},
		{Method: "POST", Path: "/v0/ans-rules", Name: "scan.ans_rules", Handle: ansRules},
		{Method: "GET", Path: "/v0/coin-price/votes", Name: "scan.price_votes", Handle: a.votes.onPrice},
		{Method: "POST", Path: "/v0/voterequest", Name: "scan.vote_requests_by_id", Handle: a.votes.requestsByID},
		{Method: "GET", Path: "/v0/voterequests/{vote_request_contract_id}", Name: "scan.vote_request", Handle: a.votes.request},
		{Method: "GET", Path: "/v0/admin/sv/voterequests", Name: "scan.vote_requests", Handle: a.votes.requests},
		{Method: "POST", Path: "/v0/admin/sv/voteresults", Name: "scan.vote_results", Class: query.Page, Handle: a.votes.resultPage},
		{Method: "POST", Path: "/v0/admin/sv/voteresults/count", Name: "scan.count_vote_results", Handle: a.votes.countResults},
		{Method: "POST", Path: "/v0/admin/sv/previous-sv-reward-weight", Name: "scan.previous_reward_weight", Handle: a.votes.previousWeight},
		{Method: "GET", Path: "/v0/featured-apps", Name: "scan.featured_apps", Class: query.Page, Handle: a.apps.all},
		{Method: "GET", Path: "/v0/featured-apps/by-provider/{provider_party_id}", Name: "scan.featured_apps_by_provider", Class: query.Page, Handle: a.apps.ofProvider},
		{Method: "GET", Path: "/v0/featured-apps/by-contract-id/{contract_id}", Name: "scan.featured_app_by_contract_id", Handle: a.apps.one("contract_id", byID)},
		{Method: "GET", Path: "/v0/featured-apps/{provider_party_id}", Name: "scan.featured_app", Handle: a.apps.one("provider_party_id", byProvider)},
		{Method: "GET", Path: "/v0/unclaimed-development-fund-coupons", Name: "scan.fund_coupons", Class: query.Page, Handle: a.apps.fundCoupons},
		{Method: "GET", Path: "/v0/ans-entries", Name: "scan.ans_entries", Handle: a.names.list},
		{Method: "GET", Path: "/v0/ans-entries/by-party/{party}", Name: "scan.ans_entry_by_party", Handle: a.names.ofParty},
		{Method: "GET", Path: "/v0/ans-entries/by-name/{name}", Name: "scan.ans_entry_by_name", Handle: a.names.named},
		{Method: "GET", Path: "/v0/transfer-preapprovals/by-party/{party}", Name: "scan.preapproval", Handle: a.transfers.preapproval},
		{Method: "GET", Path: "/v0/transfer-command-counter/{party}", Name: "scan.command_counter", Handle: a.transfers.commandCounter},
		{Method: "GET", Path: "/v0/transfer-command/status", Name: "scan.command_status", Handle: a.transfers.commandStatus},
		{Method: "GET", Path: "/v0/domains/{domain_id}/members/{member_id}/traffic-status", Name: "scan.traffic_status", Handle: a.traffic.status},
		{Method: "GET", Path: "/v0/validators/validator-faucets", Name: "scan.validator_faucets", Handle: a.validators.faucets},
		{Method: "GET", Path: "/v0/admin/validator/licenses", Name: "scan.licenses", Handle: a.validators.licenses},
		{Method: "GET", Path: "/v0/migrations/last", Name: "scan.last_migration", Handle: a.network.lastMigration},
		{Method: "GET", Path: rewardRounds + "earliest-available", Name: "scan.earliest_round", Handle: a.rewards.earliestRound},
	}
}

const rewardRounds = "/v0/internal/reward-accounting-process/rounds/"

// factRoutes answer with what upstreams said.
func (a *API) factRoutes() []query.Route {
	return []query.Route{
		{Method: "GET", Path: "/v0/active-synchronizer-serial", Name: "scan.serial", Handle: a.network.factOf(facts.Serial, "synchronizer serial")},
		{Method: "GET", Path: "/v0/dso-sequencers", Name: "scan.sequencers", Handle: a.network.factOf(facts.Sequencers, "sequencers")},
		{Method: "GET", Path: "/v0/sv-bft-sequencers", Name: "scan.bft_sequencers", Handle: a.network.factOf(facts.BFTSequencers, "sequencers")},
		{Method: "GET", Path: "/v0/scans", Name: "scan.scans", Handle: a.network.factOf(facts.Scans, "scans")},
		{Method: "GET", Path: "/v0/app-instance-names", Name: "scan.instance_names", Handle: a.network.instanceNames},
		{Method: "GET", Path: "/v0/migrations/schedule", Name: "scan.schedule", Handle: a.network.schedule},
		{Method: "GET", Path: "/v0/lsu", Name: "scan.lsu", Handle: a.network.factOf(facts.LSU, "synchronizer upgrade")},
		{Method: "GET", Path: "/v0/roll-forward-lsu", Name: "scan.roll_forward_lsu", Handle: a.network.factOf(facts.RollForwardLSU, "synchronizer upgrade")},
		{Method: "GET", Path: "/v0/synchronizer-identities/{domain_id_prefix}", Name: "scan.identities", Handle: a.network.prefixed(facts.Identities, "identities")},
		{Method: "GET", Path: "/v0/synchronizer-bootstrapping-transactions/{domain_id_prefix}", Name: "scan.bootstrapping", Handle: a.network.prefixed(facts.Bootstrapping, "bootstrapping transactions")},
		{Method: "GET", Path: "/v0/domains/{domain_id}/parties/{party_id}/participant-id", Name: "scan.participant_id", Handle: a.network.participantID},
		{Method: "GET", Path: "/v1/domains/{domain_id}/parties/{party_id}/participant-id", Name: "scan.v1.participant_id", Handle: a.network.participantIDs},
		{Method: "GET", Path: rewardRounds + "{round_number}/activity-totals", Name: "scan.reward_totals", Handle: a.rewards.ofRound(facts.RewardTotals)},
		{Method: "GET", Path: rewardRounds + "{round_number}/root-hash", Name: "scan.reward_root", Handle: a.rewards.ofRound(facts.RewardRoot)},
		{Method: "GET", Path: rewardRounds + "{round_number}/batches/{batch_hash}", Name: "scan.reward_batch", Handle: a.rewards.batch},
	}
}

// registryRoutes are those of the token standard's registry.
func (a *API) registryRoutes() []query.Route {
	const registry, instruction, allocation = "/registry", "/{transfer_instruction_id}/choice-contexts/", "/{allocation_id}/choice-contexts/"
	g := a.registry
	list := []query.Route{
		{Method: "GET", Path: "/metadata/v1/info", Name: "info", Handle: g.info},
		{Method: "GET", Path: "/metadata/v1/instruments", Name: "instruments", Handle: g.instruments},
		{Method: "GET", Path: "/metadata/v1/instruments/{instrument_id}", Name: "instrument", Handle: g.instrument},
		{Method: "POST", Path: "/transfer-instruction/v1/transfer-factory", Name: "v1.transfer_factory", Handle: g.transferFactory(tokenV1)},
		{Method: "POST", Path: "/transfer-instruction/v2/transfer-factory", Name: "v2.transfer_factory", Handle: g.transferFactory(tokenV2)},
		{Method: "POST", Path: "/allocation-instruction/v1/allocation-factory", Name: "v1.allocation_factory", Handle: g.allocationFactory(tokenV1)},
		{Method: "POST", Path: "/allocation-instruction/v2/allocation-factory", Name: "v2.allocation_factory", Handle: g.allocationFactory(tokenV2)},
		{Method: "POST", Path: "/allocation-instruction/v2/{allocation_instruction_id}/choice-contexts/accept", Name: "v2.allocation_instruction_accept", Handle: g.noInstruction},
		{Method: "POST", Path: "/allocation-instruction/v2/{allocation_instruction_id}/choice-contexts/withdraw", Name: "v2.allocation_instruction_withdraw", Handle: g.noInstruction},
		{Method: "POST", Path: "/allocation/v2/settlement-factory", Name: "v2.settlement_factory", Handle: g.settlementFactory},
		{Method: "POST", Path: "/allocations/v1" + allocation + "execute-transfer", Name: "v1.allocation_execute", Handle: g.onAllocation(tokenV1, (*contextBuilder).settle)},
	}
	for version, v := range map[string]tokenVersion{"v1": tokenV1, "v2": tokenV2} {
		list = append(list,
			query.Route{Method: "POST", Path: "/transfer-instruction/" + version + instruction + "accept", Name: version + ".instruction_accept", Handle: g.onInstruction((*contextBuilder).spend)},
			query.Route{Method: "POST", Path: "/transfer-instruction/" + version + instruction + "reject", Name: version + ".instruction_reject", Handle: g.onInstruction((*contextBuilder).unlock)},
			query.Route{Method: "POST", Path: "/transfer-instruction/" + version + instruction + "withdraw", Name: version + ".instruction_withdraw", Handle: g.onInstruction((*contextBuilder).unlock)},
			query.Route{Method: "POST", Path: "/allocations/" + version + allocation + "withdraw", Name: version + ".allocation_withdraw", Handle: g.onAllocation(v, (*contextBuilder).unlock)},
			query.Route{Method: "POST", Path: "/allocations/" + version + allocation + "cancel", Name: version + ".allocation_cancel", Handle: g.onAllocation(v, (*contextBuilder).unlock)},
		)
	}
	for i := range list {
		list[i].Path, list[i].Name = registry+list[i].Path, "scan.registry."+list[i].Name
	}
	return list
}

// aggregateRoutes answer from what parties have in mining rounds.
func (a *API) aggregateRoutes() []query.Route {
	g := a.aggregates
	return []query.Route{
		{Method: "GET", Path: "/v0/aggregated-rounds", Name: "scan.aggregated_rounds", Handle: g.span},
		{Method: "GET", Path: "/v0/round-of-latest-data", Name: "scan.latest_round", Handle: g.latest},
		{Method: "POST", Path: "/v0/round-totals", Name: "scan.round_totals", Class: query.Page, Handle: g.totals},
		{Method: "POST", Path: "/v0/round-party-totals", Name: "scan.round_party_totals", Class: query.Page, Handle: g.partyTotals},
		{Method: "GET", Path: "/v0/rewards-collected", Name: "scan.rewards_collected", Class: query.Page, Handle: g.collected},
		{Method: "GET", Path: "/v0/total-coin-balance", Name: "scan.total_balance", Class: query.Page, Handle: g.balance("", "total_balance")},
		{Method: "GET", Path: "/v0/wallet-balance", Name: "scan.wallet_balance", Class: query.Page, Handle: g.balance("party_id", "wallet_balance")},
		{Method: "GET", Path: "/v0/top-providers-by-app-rewards", Name: "scan.top_providers", Class: query.Page, Handle: g.leaders(history.ByAppRewards, "providersAndRewards", byApps)},
		{Method: "GET", Path: "/v0/top-validators-by-validator-rewards", Name: "scan.top_validators", Class: query.Page, Handle: g.leaders(history.ByValidatorRewards, "validatorsAndRewards", byValidators)},
		{Method: "GET", Path: "/v0/top-validators-by-purchased-traffic", Name: "scan.top_buyers", Class: query.Page, Handle: g.leaders(history.ByTraffic, "validatorsByPurchasedTraffic", byTraffic)},
		{Method: "GET", Path: "/v0/top-validators-by-validator-faucets", Name: "scan.top_faucets", Class: query.Page, Handle: g.byFaucets},
	}
}
