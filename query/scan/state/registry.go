package state

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// registry serves what the token standard asks of the registry of an instrument, for the one
// instrument of the network, its coin: what it is, and what its choices need. What they need must be
// disclosed with its blob.
type registry struct {
	governance *governance
	facts      *factReader
	contracts  *contracts
	transfers  *transfers
	apps       *featuredApps
	supply     Supply
}

// Supply sums up the coins.
type Supply interface {
	// Supply is the sum of all coins, locked ones as well, at an instant not long ago; nil while it
	// is not known.
	Supply(ctx context.Context) (*SupplyAt, error)
}

// SupplyAt is the sum of all coins at a record time.
type SupplyAt struct {
	Sum decimal.Decimal
	At  schemas.Micros
}

// metadataAPI is the part of the registry that is served.
const metadataAPI = "splice-api-token-metadata-v1"

// coinAPIs are the minor versions of what the coin implements.
var coinAPIs = map[string]int{
	metadataAPI: 1, "splice-api-token-transfer-events-v2": 1,
	"splice-api-token-holding-v1": 1, "splice-api-token-holding-v2": 1,
	"splice-api-token-transfer-instruction-v1": 1, "splice-api-token-transfer-instruction-v2": 1,
	"splice-api-token-allocation-v1": 1, "splice-api-token-allocation-v2": 1,
	"splice-api-token-allocation-instruction-v1": 1, "splice-api-token-allocation-instruction-v2": 1,
}

// instrument is a token as the registry describes it.
type instrument struct {
	ID            string           `json:"id"`
	Name          string           `json:"name"`
	Symbol        string           `json:"symbol"`
	TotalSupply   *decimal.Decimal `json:"totalSupply,omitempty"`
	SupplyAsOf    string           `json:"totalSupplyAsOf,omitempty"`
	Decimals      int              `json:"decimals"`
	SupportedAPIs map[string]int   `json:"supportedApis"`
}

// coin describes the coin, by the names that the upstream gives it.
func (g *registry) coin(ctx context.Context) (i instrument, err error) {
	fact, err := g.facts.get(ctx, facts.Of(facts.InstanceNames))
	if err != nil {
		return i, unknown(err, "instance names")
	}
	var names struct {
		Name   string `json:"coin_name"`
		Symbol string `json:"coin_name_acronym"`
	}
	if err := json.Unmarshal(fact.Body, &names); err != nil {
		return i, fmt.Errorf("reading fact %s: %w", fact.Key, err)
	}
	i = instrument{ID: template.CoinInstrument, Name: names.Name, Symbol: names.Symbol, Decimals: 10, SupportedAPIs: coinAPIs}
	supply, err := g.supply.Supply(ctx)
	if supply != nil {
		i.TotalSupply, i.SupplyAsOf = &supply.Sum, supply.At.String()
	}
	return i, err
}

// info says whose registry it is. Only the interface of metadata has no instrument to ask.
func (g *registry) info(ctx context.Context, r *query.Request) error {
	admin, err := g.governance.party(ctx)
	if err != nil {
		return err
	}
	return r.JSON(map[string]any{"adminId": admin, "supportedApis": map[string]int{metadataAPI: 1}})
}

// instruments lists the coin, and nothing after a page token, as no page has one.
func (g *registry) instruments(ctx context.Context, r *query.Request) error {
	coin, err := g.coin(ctx)
	if err != nil {
		return err
	}
	return r.JSON(map[string]any{"instruments": []instrument{coin}})
}

func (g *registry) instrument(ctx context.Context, r *query.Request) error {
	id, err := r.Path("instrument_id")
	if err != nil {
		return err
	}
	if id != template.CoinInstrument {
		return query.Errorf(query.NotFound, "No instrument with id %s found.", id)
	}
	coin, err := g.coin(ctx)
	if err != nil {
		return err
	}
	return r.JSON(coin)
}
