package query

// networkSpelling maps the neutral name of a query parameter or body member to the
// network's own. Both are accepted everywhere; where a request carries both, the
// neutral one counts.
var networkSpelling = map[string]string{
	"contract_value_encoding":                      "daml_value_encoding",
	"cached_coin_rules_contract_id":                "cached_amulet_rules_contract_id",
	"cached_coin_rules_domain_id":                  "cached_amulet_rules_domain_id",
	"cached_external_party_coin_rules_contract_id": "cached_external_party_amulet_rules_contract_id",
	"cached_external_party_coin_rules_domain_id":   "cached_external_party_amulet_rules_domain_id",
}

// spellings returns the names under which a parameter may arrive, the one that
// counts first.
func spellings(name string) []string {
	if other, ok := networkSpelling[name]; ok {
		return []string{name, other}
	}
	return []string{name}
}
