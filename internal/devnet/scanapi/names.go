package scanapi

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// EntryAnswer is a name of the name service. Those of the governance party and the
// super-validators are on no contract and do not expire.
type EntryAnswer struct {
	ContractID  string `json:"contract_id,omitempty"`
	User        string `json:"user"`
	Name        string `json:"name"`
	URL         string `json:"url"`
	Description string `json:"description"`
	ExpiresAt   string `json:"expires_at,omitempty"`
}

func entryAnswerOf(l *ledger.Ledger, c *model.Contract) EntryAnswer {
	p := c.Payload.(model.AnsEntry)
	return EntryAnswer{ledger.ContractIDOf(l, c), l.Names.Name(p.User), p.Name, p.Url, p.Description,
		string(schemas.AppendShortTime(nil, schemas.Micros(p.ExpiresAt)))}
}

// entries are the names that have not expired and that keep selects, oldest first, then
// those of the governance.
func (s *stateServer) entries(keep func(EntryAnswer) bool) []EntryAnswer {
	now := s.ledger.RecordTime()
	entries := []EntryAnswer{}
	for _, c := range s.ledger.OfTemplate(model.AnsEntryTemplate, func(c *model.Contract) bool { return c.Payload.(model.AnsEntry).ExpiresAt > now }) {
		if e := entryAnswerOf(s.ledger, c.Contract); keep(e) {
			entries = append(entries, e)
		}
	}
	n := s.ledger.Names
	governance := []EntryAnswer{{User: n.Name(model.Dso), Name: "dso.cns"}}
	for p := n.SuperValidators.First; p < n.SuperValidators.End; p++ {
		governance = append(governance, EntryAnswer{User: n.Name(p), Name: strings.ToLower(n.SvName(p)) + ".sv.cns"})
	}
	for _, e := range governance {
		if keep(e) {
			entries = append(entries, e)
		}
	}
	return entries
}

func (s *stateServer) ansEntries(r *http.Request) (any, error) {
	limit, err := queryLimit(r, "page_size", 0)
	if err != nil {
		return nil, err
	}
	prefix := r.URL.Query().Get("name_prefix")
	entries := s.entries(func(e EntryAnswer) bool { return strings.HasPrefix(e.Name, prefix) })
	return map[string]any{"entries": entries[:min(limit, len(entries))]}, nil
}

// queryLimit is a number of items in the query, from 1 to 1000; standard if it is not
// given, which must not be if that is 0.
func queryLimit(r *http.Request, name string, standard int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" && standard > 0 {
		return standard, nil
	}
	if text == "" {
		return 0, reply.BadRequest("%s is required", name)
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, reply.BadRequest("%s: %q is not a number", name, text)
	}
	limit := int32(n)
	return int(limit), checkLimit(name, &limit)
}

func (s *stateServer) ansEntryOf(r *http.Request) (any, error) {
	party := r.PathValue("party")
	entries := s.entries(func(e EntryAnswer) bool { return e.User == party })
	if len(entries) == 0 {
		return nil, reply.NotFound("No ans entry found for party: %s", party)
	}
	return map[string]any{"entry": slices.MinFunc(entries, func(a, b EntryAnswer) int { return cmp.Compare(a.Name, b.Name) })}, nil
}

func (s *stateServer) ansEntryNamed(r *http.Request) (any, error) {
	name := r.PathValue("name")
	entries := s.entries(func(e EntryAnswer) bool { return e.Name == name })
	if len(entries) == 0 {
		return nil, reply.NotFound("No ans entry found for name: %s", name)
	}
	return map[string]any{"entry": entries[0]}, nil
}
