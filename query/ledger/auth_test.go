package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
)

// rights is a Users whose rights a test changes.
type rights struct {
	mu   sync.Mutex
	list map[string]auth.Rights
	fail error
}

func (r *rights) Rights(_ context.Context, user string) (auth.Rights, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of, ok := r.list[user]
	switch {
	case r.fail != nil:
		return auth.Rights{}, r.fail
	case !ok:
		return auth.Rights{}, fmt.Errorf("%w: user %q is not known", auth.ErrUnauthenticated, user)
	}
	return of, nil
}

func (r *rights) set(user string, of auth.Rights) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list[user] = of
}

func partiesOf(list ...string) map[string]bool {
	set := map[string]bool{}
	for _, p := range list {
		set[p] = true
	}
	return set
}

var secret = []byte("a shared secret of 32 bytes, or so")

func newRights() *rights {
	return &rights{list: map[string]auth.Rights{
		"alice": {ReadAs: partiesOf(alice)},
		"bob":   {ActAs: partiesOf(bob)},
		"both":  {ReadAs: partiesOf(alice, bob)},
		"all":   {ReadAsAny: true},
		"admin": {ParticipantAdmin: true},
		"gone":  {ReadAsAny: true, Deactivated: true},
		"none":  {},
	}}
}

// secured serves with tokens.
func secured(t *testing.T, source *memory, users *rights, change func(*Config, *query.Config)) *served {
	t.Helper()
	keys, err := auth.Secret(secret)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := auth.New(auth.Config{Keys: keys, Users: users, Participant: func() string { return participant }})
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, source, func(c *Config, tier *query.Config) {
		c.Auth, c.CacheBytes = verifier, 1<<20 // what is kept for one must not be given to another
		if change != nil {
			change(c, tier)
		}
	})
}

func tokenOf(t *testing.T, user string, lasting time.Duration) string {
	t.Helper()
	token, err := auth.Mint(secret, auth.Claims{User: user, Audience: auth.Audience(participant), Expires: time.Now().Add(lasting)})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// asked are requests by what they need the right to.
func asked() map[string]map[string][2]string {
	requests := map[string]map[string][2]string{}
	for who, events := range map[string]string{"alice": byParty(alice), "bob": byParty(bob), "both": `{"filtersByParty":{"` + alice + `":{},"` + bob + `":{}}}`, "all": anyParty} {
		format := `{"includeTransactions":{"transactionShape":"TRANSACTION_SHAPE_LEDGER_EFFECTS","eventFormat":` + events + `}}`
		requests[who] = map[string][2]string{
			"list":          {"/v2/updates", updates(0, 8, events)},
			"flats":         {"/v2/updates/flats", updates(0, 8, events)},
			"legacy":        {"/v2/updates/flats", `{"beginExclusive":0,"endInclusive":8,"filter":` + events + `}`},
			"reassignments": {"/v2/updates", `{"beginExclusive":0,"endInclusive":8,"updateFormat":{"includeReassignments":` + events + `}}`},
			"page":          {"/v2/updates/get-updates-page", `{"beginOffsetExclusive":0,"updateFormat":` + format + `}`},
			"active":        {"/v2/state/active-contracts", activeAt(8, events)},
			"active page":   {"/v2/state/active-contracts-page", `{"eventFormat":` + events + `}`},
			"by offset":     {"/v2/updates/update-by-offset", `{"offset":2,"updateFormat":` + format + `}`},
			"by id":         {"/v2/updates/update-by-id", `{"updateId":"122000000001","updateFormat":` + format + `}`},
			"contract":      {"/v2/events/events-by-contract-id", `{"contractId":"0000000001","eventFormat":` + events + `}`},
		}
	}
	requests["all"]["topology"] = [2]string{"/v2/updates", `{"beginExclusive":0,"endInclusive":8,"updateFormat":{"includeTopologyEvents":{"includeParticipantAuthorizationEvents":{}}}}`}
	requests["alice"]["topology"] = [2]string{"/v2/updates", `{"beginExclusive":0,"endInclusive":8,"updateFormat":{"includeTopologyEvents":{"includeParticipantAuthorizationEvents":{"parties":["` + alice + `"]}}}}`}
	return requests
}

// Nobody gets an answer to a request that needs a right they do not have, and in no answer
// is a party a witness whom the user may not read as.
func TestRights(t *testing.T) {
	source := &memory{}
	source.grow(4)
	s := secured(t, source, newRights(), nil)
	may := map[string][]string{ // users, and what they have the right to
		"alice": {"alice"}, "bob": {"bob"}, "both": {"alice", "bob", "both"}, "all": {"alice", "bob", "both", "all"},
		"admin": nil, "gone": nil, "none": nil,
	}
	count := 0
	for user, allowed := range may {
		header := "Bearer " + tokenOf(t, user, time.Hour)
		for needs, requests := range asked() {
			for kind, r := range requests {
				count++
				a := s.do("POST", r[0], r[1], "Authorization", header)
				if !slices.Contains(allowed, needs) {
					var e JsLedgerError
					if err := json.Unmarshal([]byte(a.body), &e); err != nil || a.status != 403 || e.Code != string(permissionDenied) {
						t.Errorf("user %s asks for %s of %s: %d %s", user, kind, needs, a.status, a.body)
					}
					// A refusal tells nothing of the parties.
					if strings.Contains(e.Cause, "::") {
						t.Errorf("user %s asks for %s of %s and is told %s", user, kind, needs, e.Cause)
					}
					continue
				}
				if a.status != 200 && a.status != 404 {
					t.Errorf("user %s asks for %s of %s: %d %s", user, kind, needs, a.status, a.body)
				}
				for party, reader := range map[string]string{alice: "alice", bob: "bob"} {
					if !slices.Contains(allowed, reader) && strings.Contains(a.body, party) {
						t.Errorf("user %s asks for %s of %s and learns of %s: %s", user, kind, needs, party, a.body)
					}
				}
			}
		}
		// These need a user only, and version not even that.
		for _, path := range []string{"/v2/state/ledger-end", "/v2/state/latest-pruned-offsets", "/v2/state/connected-synchronizers"} {
			if a := s.do("GET", path, "", "Authorization", header); a.status != 200 {
				t.Errorf("user %s asks for %s: %d %s", user, path, a.status, a.body)
			}
		}
	}
	s.refused("GET", "/v2/state/connected-synchronizers?party=bob::1220cc", "", 403, permissionDenied, "Authorization", "Bearer "+tokenOf(t, "alice", time.Hour))
	t.Logf("%d requests", count)
}

// Requests without a good token are refused on every path, websockets before the switch.
func TestTokensAreNeeded(t *testing.T) {
	source := &memory{}
	source.grow(4)
	users := newRights()
	s := secured(t, source, users, nil)
	for name, header := range map[string]string{
		"no token": "", "an expired one": "Bearer " + tokenOf(t, "all", -time.Minute), "of nobody": "Bearer " + tokenOf(t, "mallory", time.Hour),
		"another scheme": "Basic YWxsOg==", "nonsense": "Bearer abc",
	} {
		for _, op := range document(t).Operations {
			switch op.Path {
			case "/v2/version", "/docs/openapi", "/docs/asyncapi", "/livez", "/readyz":
				if a := s.do(op.Method, op.Path, "", "Authorization", header); a.status != 200 {
					t.Errorf("%s with %s: %d", op, name, a.status)
				}
				continue
			}
			e := s.refused(op.Method, strings.NewReplacer("{", "", "}", "").Replace(op.Path), "{}", 401, unauthenticated, "Authorization", header)
			if strings.Contains(e.Cause, "mallory") || strings.Contains(e.Cause, "expired") {
				t.Errorf("%s with %s: the caller is told %s", op, name, e.Cause)
			}
		}
	}
	for name, o := range map[string]*websocket.DialOptions{
		"no token":                         {Subprotocols: []string{"daml.ws.auth"}},
		"nonsense":                         {Subprotocols: []string{"jwt.token.abc", "daml.ws.auth"}},
		"a bad header and a good protocol": {Subprotocols: []string{"jwt.token." + tokenOf(t, "all", time.Hour)}, HTTPHeader: http.Header{"Authorization": {"Bearer abc"}}},
	} {
		if _, response, err := s.dial("/v2/updates", o); err == nil || response.StatusCode != 401 {
			t.Errorf("a websocket with %s: %v", name, err)
		}
	}
	users.mu.Lock()
	users.fail = fmt.Errorf("%w: the node does not answer", auth.ErrUnavailable)
	users.mu.Unlock()
	s.refused("GET", "/v2/state/ledger-end", "", 503, serviceNotRunning, "Authorization", "Bearer "+tokenOf(t, "all", time.Hour))
}

func TestSocketTokens(t *testing.T) {
	source := &memory{}
	source.grow(4)
	s := secured(t, source, newRights(), nil)
	for name, o := range map[string]*websocket.DialOptions{
		"in a protocol":               {Subprotocols: []string{"jwt.token." + tokenOf(t, "alice", time.Hour), "daml.ws.auth"}},
		"with the neutral protocol":   {Subprotocols: []string{"contract.ws.auth", "jwt.token." + tokenOf(t, "alice", time.Hour)}},
		"in the header":               {HTTPHeader: http.Header{"Authorization": {"Bearer " + tokenOf(t, "alice", time.Hour)}}},
		"from a page of another host": {Subprotocols: []string{"jwt.token." + tokenOf(t, "alice", time.Hour), "daml.ws.auth"}, HTTPHeader: http.Header{"Origin": {"https://app.example"}}},
	} {
		c, _, err := s.dial("/v2/updates", o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if strings.Contains(c.Subprotocol(), "jwt") {
			t.Errorf("%s: the token is sent back", name)
		}
		c.send(updates(0, 8, byParty(alice)))
		if list, refused, code := c.rest(); code != 1000 || refused != nil || len(list) != 3 {
			t.Errorf("%s: %d elements, %+v, %d", name, len(list), refused, code)
		}
	}
	c := s.open("/v2/updates", updates(0, 8, byParty(bob)), "Authorization", "Bearer "+tokenOf(t, "alice", time.Hour))
	if list, refused, code := c.rest(); refused == nil || refused.Code != string(permissionDenied) || code != 1011 || len(list) > 0 {
		t.Errorf("%d elements, %+v, %d", len(list), refused, code)
	}
}

// A stream ends with its token.
func TestSocketEndsWithItsToken(t *testing.T) {
	t.Parallel()
	source := &memory{}
	source.grow(4)
	s := secured(t, source, newRights(), nil)
	c := s.open("/v2/updates", updates(0, -1, byParty(alice)), "Authorization", "Bearer "+tokenOf(t, "alice", 2*time.Second))
	c.transactions(3)
	begin := time.Now()
	list, refused, code := c.rest()
	if refused == nil || refused.Code != string(unauthenticated) || code != 1011 || len(list) > 0 {
		t.Errorf("%d elements, %+v, %d", len(list), refused, code)
	}
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("it ended after %s", took)
	}
}

// A stream ends when its user loses the right that it needs, but not with others.
func TestSocketEndsWithTheRight(t *testing.T) {
	source := &memory{}
	source.grow(4)
	users := newRights()
	s := secured(t, source, users, func(c *Config, _ *query.Config) { c.RenewInterval = 20 * time.Millisecond })
	c := s.open("/v2/updates", updates(0, -1, byParty(alice)), "Authorization", "Bearer "+tokenOf(t, "both", time.Hour))
	c.transactions(3)
	users.set("both", auth.Rights{ReadAs: partiesOf(alice)})
	users.mu.Lock()
	users.fail = fmt.Errorf("%w: the node does not answer", auth.ErrUnavailable)
	users.mu.Unlock()
	time.Sleep(100 * time.Millisecond)
	users.mu.Lock()
	users.fail = nil
	users.mu.Unlock()
	source.grow(3)
	c.transactions(1)
	users.set("both", auth.Rights{ReadAs: partiesOf(bob)})
	if _, refused, code := c.rest(); refused == nil || refused.Code != string(staleAuthorization) || code != 1011 {
		t.Errorf("%+v, %d", refused, code)
	}
}

func TestTooManySocketsOfAUser(t *testing.T) {
	source := &memory{}
	source.grow(4)
	s := secured(t, source, newRights(), func(c *Config, _ *query.Config) { c.MaxUserStreams = 2 })
	of := func(user string) *websocket.DialOptions {
		return &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + tokenOf(t, user, time.Hour)}}}
	}
	for range 2 {
		if _, _, err := s.dial("/v2/updates", of("alice")); err != nil {
			t.Fatal(err)
		}
	}
	if _, response, err := s.dial("/v2/updates", of("alice")); err == nil || response.StatusCode != 429 {
		t.Errorf("a third stream of a user: %v", err)
	}
	if _, _, err := s.dial("/v2/updates", of("bob")); err != nil {
		t.Errorf("the first stream of another user: %v", err)
	}
}
