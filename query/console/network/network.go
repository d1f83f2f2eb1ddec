// Package network has the pages of what the network is: rounds, rewards, validators, traffic, names and governance.
package network

import (
	"context"
	"net/url"

	"github.com/ledgerlake/ledgerlake/internal/history/accounts"
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/internal/history/network"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// Config says what the pages read. All members are required.
type Config struct {
	Network  *network.Reader
	Accounts *accounts.Reader
	Metrics  *metrics.Reader
}

// Network makes the pages.
type Network struct{ cfg Config }

// New returns the pages over some readers.
func New(cfg Config) *Network { return &Network{cfg} }

// pageRows is how many rows a page of a list has.
const pageRows = 50

// Routes are the pages.
func (s *Network) Routes(p *page.Pages) []query.Route {
	return []query.Route{
		p.Get("/rounds", "rounds", s.rounds),
		p.Stream("/rounds/price.json", "rounds.price", query.Light, s.prices),
		p.Get("/round/{round}", "round", s.round),
		p.Get("/rewards", "rewards", s.rewards),
		p.Get("/validators", "validators", s.validators),
		p.Get("/traffic", "traffic", s.traffic),
		p.Get("/names", "names", s.names),
		p.Get("/name/{name}", "name", s.name),
		p.Get("/governance", "governance", s.governance),
	}
}

// instant is as of when a page is wanted; ok is false before all history, of which there is nothing to show.
func (s *Network) instant(ctx context.Context, v *page.View) (network.Instant, bool, error) {
	return s.cfg.Network.Instant(ctx, v.Instant())
}

// before is where the contracts of a page begin.
func before(v *page.View) (network.Key, error) {
	key, ok := network.ParseKey(v.Param("before"))
	if !ok {
		return key, errPlace
	}
	return key, nil
}

// errPlace answers for a place in a list that no page has named.
var errPlace = query.Errorf(query.Invalid, "This is not the address of a part of the list. Start at its beginning.")

// older cuts a list to a page, and returns where the next page begins, "" if there is none.
func older[T any](list []T, path string, contract func(*T) *network.Contract, params ...string) ([]T, string) {
	if len(list) <= pageRows {
		return list, ""
	}
	list = list[:pageRows]
	return list, withParams(path, append(params, "before", network.KeyOf(contract(&list[pageRows-1])).String())...)
}

// withParams is a path with parameters, names and values in turn; those without a value are left out.
func withParams(path string, params ...string) string {
	values := url.Values{}
	for i := 0; i < len(params); i += 2 {
		if params[i+1] != "" {
			values.Set(params[i], params[i+1])
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}
