package scan

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// How record_time selects a snapshot. anyInstant is chosen by giving "at" instead.
const (
	matchExact      = "exact"
	matchAtOrBefore = "at_or_before"
	anyInstant      = "at"
)

// acsRequest asks for an active set or for a part of it.
type acsRequest struct {
	MigrationID int64
	Time        schemas.Micros
	Match       string
	Parties     []string
	Templates   []string
	// Owners keeps holdings of these parties; nil keeps every contract.
	Owners []string `json:",omitempty"`
	size   int
}

// setOf reads which active set is meant.
func setOf(p *query.Params) acsRequest {
	req := acsRequest{MigrationID: p.Int64("migration_id"), Match: p.OneOf("record_time_match", matchExact, matchAtOrBefore)}
	at, anywhere := p.OptionalTime("at")
	if !anywhere {
		req.Time = p.Time("record_time")
	} else if req.Time, req.Match = at, anyInstant; p.Has("record_time") {
		p.Fail("Members at and record_time exclude each other.")
	}
	return req
}

// filteredSetOf reads an active set with filters.
func filteredSetOf(p *query.Params) acsRequest {
	req := setOf(p)
	req.Parties, req.Templates = distinct(p.Texts("party_ids")), distinct(p.Texts("templates"))
	for _, t := range req.Templates {
		if !isTemplateName(t) {
			p.Fail("Each of templates must have the form PACKAGE_NAME:MODULE_NAME:ENTITY_NAME, not %.200q.", t)
		}
	}
	return req
}

// holdingsOf reads which holdings are meant: coins, locked or not, of some owners.
func holdingsOf(p *query.Params) acsRequest {
	req := setOf(p)
	req.Owners = distinct(p.RequiredTexts("owner_party_ids"))
	if len(req.Owners) == 0 {
		p.Fail("Member owner_party_ids must name at least one party.")
	}
	// An owner is a stakeholder of its coins.
	req.Parties, req.Templates = req.Owners, []string{template.Coin, template.LockedCoin}
	return req
}

// distinct sorts a filter, in which order and repetition mean nothing.
func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

func isTemplateName(name string) bool {
	parts := strings.Split(name, ":")
	return len(parts) == 3 && !slices.Contains(parts, "")
}

// digest identifies the request for its page tokens.
func (req *acsRequest) digest() []byte {
	// Integers and strings always marshal; unexported members are left out.
	text, _ := json.Marshal(req)
	return append([]byte("acs "), text...)
}
