package query

// Naming is the spelling in which members of answers are written.
type Naming string

const (
	// Neutral is the spelling without the words of one network; the default.
	Neutral Naming = "neutral"
	// Network is the network's own spelling.
	Network Naming = "network"
)

// networkSpelling maps the neutral name of a query parameter or a member of a body to the
// network's own. In requests both are accepted everywhere; where a request carries both,
// the neutral one counts. Answers are written in one of them, see Request.Naming.
var networkSpelling = map[string]string{
	"contract_value_encoding":                      "daml_value_encoding",
	"cached_coin_rules_contract_id":                "cached_amulet_rules_contract_id",
	"cached_coin_rules_domain_id":                  "cached_amulet_rules_domain_id",
	"cached_external_party_coin_rules_contract_id": "cached_external_party_amulet_rules_contract_id",
	"cached_external_party_coin_rules_domain_id":   "cached_external_party_amulet_rules_domain_id",
	"coin_rules":                       "amulet_rules",
	"coin_rules_update":                "amulet_rules_update",
	"external_party_coin_rules_update": "external_party_amulet_rules_update",
	"coin_name":                        "amulet_name",
	"coin_name_acronym":                "amulet_name_acronym",
	"coins":                            "amulets",
	"locked_coins":                     "locked_amulets",
	"coin_operation":                   "amulet_operation",
	"coin_price_votes":                 "amulet_price_votes",
	"coin_create_fee":                  "amulet_create_fee",
	"total_coin_balance":               "total_amulet_balance",
	"coin_owner":                       "amulet_owner",
	"coin_amount":                      "amulet_amount",
	"coin_price":                       "amulet_price",
	"input_coin_amount":                "input_amulet_amount",
}

// networkPaths maps the neutral path of an operation to the network's own.
var networkPaths = map[string]string{
	"/v0/coin-rules":                "/v0/amulet-rules",
	"/v0/external-party-coin-rules": "/v0/external-party-amulet-rules",
	"/v0/app-instance-names":        "/v0/splice-instance-names",
	"/v0/coin-price/votes":          "/v0/amulet-price/votes",
	"/v0/coin-config-for-round":     "/v0/amulet-config-for-round",
	"/v0/total-coin-balance":        "/v0/total-amulet-balance",
	"/v0/wallet/coins":              "/v0/wallet/amulets",
	"/v0/scan-proxy/coin-rules":     "/v0/scan-proxy/amulet-rules",
}

// networkOnly are the names and paths that only the network's own spelling has.
var networkOnly = func() map[string]bool {
	only := map[string]bool{}
	for _, spellings := range []map[string]string{networkSpelling, networkPaths} {
		for _, network := range spellings {
			only[network] = true
		}
	}
	return only
}()

// NamingOf is the spelling of answers at the path of an operation, without the prefix of its mount: the
// network's for paths that only the network has, or else the given one.
func (n Naming) NamingOf(path string) Naming {
	if networkOnly[path] {
		return Network
	}
	return n
}

// Naming is the spelling of the answer to this request: the network's for a path or a parameter of the
// query that only the network has, whose clients know no other; else the configured one.
func (r *Request) Naming(configured Naming) Naming {
	naming := configured.NamingOf(r.path)
	for name := range r.rc.QueryArgs().All() {
		if networkOnly[string(name)] {
			return Network
		}
	}
	return naming
}

// Member spells a member of an answer whose neutral name is given.
func (n Naming) Member(neutral string) string {
	if other, ok := networkSpelling[neutral]; ok && n == Network {
		return other
	}
	return neutral
}

// Respell spells a member of an answer whose name is given in either spelling.
func (n Naming) Respell(member string) string {
	for neutral, network := range networkSpelling {
		if member == network {
			return n.Member(neutral)
		}
	}
	return n.Member(member)
}

// BothPaths adds to routes with neutral paths those with the network's. They are the same
// operation; only their names in logs and metrics differ, by ".network".
func BothPaths(routes []Route) []Route {
	for _, r := range routes {
		if path, ok := networkPaths[r.Path]; ok {
			r.Path, r.Name = path, r.Name+".network"
			routes = append(routes, r)
		}
	}
	return routes
}

// spellings returns the names under which a parameter may arrive, the one that
// counts first.
func spellings(name string) []string {
	if other, ok := networkSpelling[name]; ok {
		return []string{name, other}
	}
	return []string{name}
}
