package network

import (
	"context"
	"net/url"

	"github.com/ledgerlake/ledgerlake/internal/history/network"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// validatorsView is a page of licences.
type validatorsView struct {
	rows  []network.License
	older string
}

// validators lists the licences of validators, the newest first.
func (s *Network) validators(ctx context.Context, v *page.View) (page.Page, error) {
	var view validatorsView
	key, err := before(v)
	if err != nil {
		return page.Page{}, err
	}
	at, ok, err := s.instant(ctx, v)
	if err != nil {
		return page.Page{}, err
	}
	if ok {
		if view.rows, err = s.cfg.Network.Licenses(ctx, at, key, pageRows+1); err != nil {
			return page.Page{}, err
		}
		view.rows, view.older = older(view.rows, "/validators", func(l *network.License) *network.Contract { return &l.Contract })
	}
	return page.Page{Title: "Validators", Section: page.Validators, Body: validators(v, view)}, nil
}

// trafficView is a page of what members have bought.
type trafficView struct {
	member string
	rows   []trafficRow
	older  string
}

type trafficRow struct {
	network.Traffic
	// used is what its transactions cost; known says whether verdicts say so.
	used  network.Used
	known bool
}

// maxMember is more bytes than the id of a member has.
const maxMember = 1000

// traffic lists what members of synchronizers have bought and used.
func (s *Network) traffic(ctx context.Context, v *page.View) (page.Page, error) {
	view := trafficView{member: v.Param("member")}
	key, err := before(v)
	if err != nil {
		return page.Page{}, err
	}
	if len(view.member) > maxMember {
		return page.Page{}, query.Errorf(query.Invalid, "The id of a member has at most %d characters.", maxMember)
	}
	at, ok, err := s.instant(ctx, v)
	if err != nil {
		return page.Page{}, err
	}
	if ok {
		if err := s.addTraffic(ctx, &view, at, key); err != nil {
			return page.Page{}, err
		}
	}
	return page.Page{Title: "Traffic", Section: page.Validators, Body: traffic(v, view)}, nil
}

func (s *Network) addTraffic(ctx context.Context, view *trafficView, at network.Instant, key network.Key) error {
	list, err := s.cfg.Network.Traffic(ctx, at, view.member, key, pageRows+1)
	if err != nil {
		return err
	}
	list, view.older = older(list, "/traffic", func(t *network.Traffic) *network.Contract { return &t.Contract }, "member", view.member)
	var members []string
	for i := range list {
		members = append(members, list[i].Member)
	}
	used, err := s.cfg.Network.Used(ctx, at, members)
	if err != nil {
		return err
	}
	for _, t := range list {
		u, known := used[t.Member]
		view.rows = append(view.rows, trafficRow{t, u, known})
	}
	return nil
}

// namesView is a page of entries of the name service.
type namesView struct {
	prefix string
	rows   []network.Name
	older  string
	at     schemas.Micros
}

// maxName is more bytes than a name has.
const maxName = 500

// names lists entries of the name service that begin with a prefix, the newest first.
func (s *Network) names(ctx context.Context, v *page.View) (page.Page, error) {
	view := namesView{prefix: v.Param("prefix")}
	key, err := before(v)
	if err != nil {
		return page.Page{}, err
	}
	if len(view.prefix) > maxName {
		return page.Page{}, query.Errorf(query.Invalid, "A name has at most %d characters.", maxName)
	}
	at, ok, err := s.instant(ctx, v)
	if err != nil {
		return page.Page{}, err
	}
	if ok {
		view.at = at.At
		if view.rows, err = s.cfg.Network.Names(ctx, at, view.prefix, key, pageRows+1); err != nil {
			return page.Page{}, err
		}
		view.rows, view.older = older(view.rows, "/names", func(n *network.Name) *network.Contract { return &n.Contract }, "prefix", view.prefix)
	}
	return page.Page{Title: "Names", Section: page.Names, Body: names(v, view)}, nil
}

// namePath is the address of a name.
func namePath(name string) string { return "/name/" + url.PathEscape(name) }

// nameView is the entries of a name.
type nameView struct {
	name string
	rows []network.Name
	at   schemas.Micros
}

// name is one name.
func (s *Network) name(ctx context.Context, v *page.View) (page.Page, error) {
	text, err := v.Path("name")
	if err != nil {
		return page.Page{}, err
	}
	view := nameView{name: text}
	at, ok, err := s.instant(ctx, v)
	if err != nil {
		return page.Page{}, err
	}
	if ok && len(text) <= maxName {
		if view.rows, err = s.cfg.Network.Named(ctx, at, text); err != nil {
			return page.Page{}, err
		}
	}
	if len(view.rows) == 0 {
		return page.Page{}, page.Missing("Nobody has this name at this time. Names are searched for by how they begin on the page of names.")
	}
	view.at = at.At
	return page.Page{Title: text, Section: page.Names, Body: name(v, view)}, nil
}
