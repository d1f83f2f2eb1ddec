package devnet

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/golang-jwt/jwt/v5"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
)

// mint returns a token of a user that expires then, or never if expires is zero.
func mint(t testing.TB, a *nodeapi.NodeAuth, user string, expires time.Time) string {
	t.Helper()
	claims := jwt.MapClaims{"sub": user, "scope": a.Scope}
	if a.Audience != "" {
		claims["aud"] = a.Audience
	}
	if !expires.IsZero() {
		claims["exp"] = expires.Unix()
	}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(a.Secret)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// as returns a client for a user.
func (c nodeClient) as(a *nodeapi.NodeAuth, user string) nodeClient {
	c.token = mint(c.t, a, user, time.Time{})
	return c
}

// call sends a request that must succeed and decodes the answer into v.
func (c nodeClient) call(method, path, body string, v any) {
	c.t.Helper()
	status, _, answer := c.do(method, path, body)
	if status != http.StatusOK {
		c.t.Fatalf("%s %s %s: status %d, %s", method, path, body, status, answer)
	}
	if err := json.Unmarshal(answer, v); err != nil {
		c.t.Fatalf("%s %s: %v in %.300s", method, path, err, answer)
	}
}

// refusal is a request that must fail.
type refusal struct {
	name, method, path, body string
	status                   int
	code                     string // "" for a text
}

func (c nodeClient) refuses(tc refusal) {
	c.t.Helper()
	status, header, answer := c.do(tc.method, tc.path, tc.body)
	if status != tc.status {
		c.t.Errorf("%s: status %d, want %d: %s", tc.name, status, tc.status, answer)
		return
	}
	if tc.code == "" {
		if !strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
			c.t.Errorf("%s: answer is %s, want a text: %s", tc.name, header.Get("Content-Type"), answer)
		}
		return
	}
	if e := c.decodeError(answer); e.Code != tc.code || e.Status() != status {
		c.t.Errorf("%s: error %+v, want %s", tc.name, e, tc.code)
	}
}

type userAnswer struct {
	User ledger.WireUser `json:"user"`
}

type rightsAnswer struct {
	Rights  []nodeapi.WireRight `json:"rights"`
	Granted []nodeapi.WireRight `json:"newlyGrantedRights"`
	Revoked []nodeapi.WireRight `json:"newlyRevokedRights"`
}

func TestNodeUsersComeAndGo(t *testing.T) {
	l, _ := readNode(t, nodeapi.NodeOptions{})
	c := serveNode(t, l, nodeapi.NodeOptions{})
	mine := l.Names.Name(l.View.Parties[0])
	var created, got userAnswer
	c.call("POST", "/v2/users", fmt.Sprintf(`{"user":{"id":"alice","primaryParty":%q,"metadata":{"annotations":{"a":"1","b":"2"}}},
		"rights":[{"kind":{"CanActAs":{"value":{"party":%q}}}},{"kind":{"Empty":{}}}]}`, mine, mine), &created)
	c.call("GET", "/v2/users/alice", "", &got)
	if fmt.Sprint(created) != fmt.Sprint(got) || got.User.PrimaryParty != mine || got.User.Metadata.Annotations["b"] != "2" {
		t.Errorf("created %+v, got %+v", created, got)
	}
	var rights rightsAnswer
	c.call("GET", "/v2/users/alice/rights", "", &rights)
	if want := nodeapi.WireRights([]ledger.Right{{Kind: "CanActAs", Party: mine}}); fmt.Sprint(rights.Rights[0].Kind["CanActAs"].Value) != fmt.Sprint(want[0].Kind["CanActAs"].Value) || len(rights.Rights) != 1 {
		t.Errorf("rights are %+v", rights)
	}
	both := fmt.Sprintf(`{"userId":"alice","rights":[{"kind":{"CanActAs":{"value":{"party":%q}}}},{"kind":{"CanReadAsAnyParty":{"value":{}}}}]}`, mine)
	c.call("POST", "/v2/users/alice/rights", both, &rights)
	if len(rights.Granted) != 1 || rights.Granted[0].Kind["CanReadAsAnyParty"].Value == nil {
		t.Errorf("granted %+v", rights.Granted)
	}
	c.call("PATCH", "/v2/users/alice/rights", both, &rights)
	if len(rights.Revoked) != 2 {
		t.Errorf("revoked %+v", rights.Revoked)
	}
	got = userAnswer{} // maps keep what they have
	c.call("PATCH", "/v2/users/alice", `{"user":{"id":"alice","isDeactivated":true,"primaryParty":"x::1220ab","metadata":{"annotations":{"a":"","c":"3"}}},
		"updateMask":{"paths":["is_deactivated","metadata.annotations"]}}`, &got)
	if u := got.User; !u.Deactivated || u.PrimaryParty != mine || fmt.Sprint(u.Metadata.Annotations) != "map[b:2 c:3]" || u.Metadata.ResourceVersion != "1" {
		t.Errorf("after the update: %+v", u)
	}
	c.refuses(refusal{"a stale version", "PATCH", "/v2/users/alice", `{"user":{"metadata":{"resourceVersion":"0"}},"updateMask":{"paths":["metadata"]}}`, 409, "CONCURRENT_USER_UPDATE_DETECTED"})
	var none struct{}
	c.call("DELETE", "/v2/users/alice", "", &none)
	c.refuses(refusal{"a deleted user", "GET", "/v2/users/alice", "", 404, "USER_NOT_FOUND"})
}

func TestNodeListsUsers(t *testing.T) {
	l, _ := readNode(t, nodeapi.NodeOptions{})
	c := serveNode(t, l, nodeapi.NodeOptions{})
	want := []string{nodeapi.AdminUser}
	for i := range 7 {
		id := fmt.Sprintf("user-%d", i)
		var created userAnswer
		c.call("POST", "/v2/users", fmt.Sprintf(`{"user":{"id":%q}}`, id), &created)
		want = append(want, id)
	}
	for size := range 10 {
		var got []string
		token := ""
		for {
			var page struct {
				Users []ledger.WireUser
				Next  string `json:"nextPageToken"`
			}
			c.call("GET", fmt.Sprintf("/v2/users?pageSize=%d&pageToken=%s", size, token), "", &page)
			if size > 0 && len(page.Users) > size {
				t.Fatalf("a page of %d has %d", size, len(page.Users))
			}
			for _, u := range page.Users {
				got = append(got, u.ID)
			}
			if token = page.Next; token == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pages of %d: %v, want %v", size, got, want)
		}
	}
}

func TestNodeUserRefusals(t *testing.T) {
	l, _ := readNode(t, nodeapi.NodeOptions{})
	c := serveNode(t, l, nodeapi.NodeOptions{})
	const users = "/v2/users"
	rights := users + "/" + nodeapi.AdminUser + "/rights"
	for _, tc := range []refusal{
		{"no JSON", "POST", users, `{`, 400, ""},
		{"no user", "POST", users, `{}`, 400, ""},
		{"no id", "POST", users, `{"user":{}}`, 400, "MISSING_FIELD"},
		{"an id with a space", "POST", users, `{"user":{"id":"a b"}}`, 400, "INVALID_FIELD"},
		{"a long id", "POST", users, `{"user":{"id":"` + strings.Repeat("a", 129) + `"}}`, 400, "INVALID_FIELD"},
		{"an id that is taken", "POST", users, `{"user":{"id":"` + nodeapi.AdminUser + `"}}`, 409, "USER_ALREADY_EXISTS"},
		{"a party that is none", "POST", users, `{"user":{"id":"a","primaryParty":"alice"}}`, 400, "INVALID_FIELD"},
		{"a version", "POST", users, `{"user":{"id":"a","metadata":{"resourceVersion":"3"}}}`, 400, "INVALID_FIELD"},
		{"another identity provider", "POST", users, `{"user":{"id":"a","identityProviderId":"corp"}}`, 404, "IDENTITY_PROVIDER_CONFIG_NOT_FOUND"},
		{"large annotations", "POST", users, `{"user":{"id":"a","metadata":{"annotations":{"a":"` + strings.Repeat("x", nodeapi.MaxAnnotations) + `"}}}}`, 400, "INVALID_ARGUMENT"},
		{"an unknown right", "POST", users, `{"user":{"id":"a"},"rights":[{"kind":{"CanFly":{"value":{}}}}]}`, 400, ""},
		{"a right of two kinds", "POST", users, `{"user":{"id":"a"},"rights":[{"kind":{"Empty":{},"ParticipantAdmin":{}}}]}`, 400, ""},
		{"a right without party", "POST", users, `{"user":{"id":"a"},"rights":[{"kind":{"CanActAs":{"value":{}}}}]}`, 400, "MISSING_FIELD"},
		{"a right of no party", "POST", users, `{"user":{"id":"a"},"rights":[{"kind":{"CanActAs":{"value":{"party":"x"}}}}]}`, 400, "INVALID_FIELD"},
		{"an unknown user", "GET", users + "/nobody", "", 404, "USER_NOT_FOUND"},
		{"rights of an unknown user", "GET", users + "/nobody/rights", "", 404, "USER_NOT_FOUND"},
		{"granting to an unknown user", "POST", users + "/nobody/rights", `{"rights":[]}`, 404, "USER_NOT_FOUND"},
		{"revoking from an unknown user", "PATCH", users + "/nobody/rights", `{"rights":[]}`, 404, "USER_NOT_FOUND"},
		{"deleting an unknown user", "DELETE", users + "/nobody", "", 404, "USER_NOT_FOUND"},
		{"deleting oneself", "DELETE", users + "/" + nodeapi.AdminUser, "", 400, "INVALID_ARGUMENT"},
		{"rights of another user than named", "POST", rights, `{"userId":"x","rights":[]}`, 400, "INVALID_ARGUMENT"},
		{"an update without mask", "PATCH", users + "/" + nodeapi.AdminUser, `{"user":{}}`, 400, "MISSING_FIELD"},
		{"an update of an unknown member", "PATCH", users + "/" + nodeapi.AdminUser, `{"user":{},"updateMask":{"paths":["id"]}}`, 400, "INVALID_FIELD"},
		{"an update of another user", "PATCH", users + "/" + nodeapi.AdminUser, `{"user":{"id":"x"},"updateMask":{"paths":["metadata"]}}`, 400, "INVALID_ARGUMENT"},
		{"an update of an unknown user", "PATCH", users + "/nobody", `{"user":{},"updateMask":{"paths":["metadata"]}}`, 404, "USER_NOT_FOUND"},
		{"deactivating oneself", "PATCH", users + "/" + nodeapi.AdminUser, `{"user":{"isDeactivated":true},"updateMask":{"paths":["is_deactivated"]}}`, 400, "INVALID_ARGUMENT"},
		{"a page of letters", "GET", users + "?pageSize=x", "", 400, ""},
		{"a negative page", "GET", users + "?pageSize=-1", "", 400, "INVALID_ARGUMENT"},
		{"a page token of another kind", "GET", users + "?pageToken=%25", "", 400, "INVALID_ARGUMENT"},
	} {
		c.refuses(tc)
	}
	many := make([]string, nodeapi.MaxUserRights)
	for i := range many {
		many[i] = fmt.Sprintf(`{"kind":{"CanReadAs":{"value":{"party":"p%d::1220"}}}}`, i)
	}
	c.refuses(refusal{"too many rights", "POST", rights, `{"rights":[` + strings.Join(many, ",") + `]}`, 400, "TOO_MANY_USER_RIGHTS"})
}

// TestNodeKnowsWhoMayManage walks the operations with tokens of users that were created
// over the API.
func TestNodeKnowsWhoMayManage(t *testing.T) {
	l, _ := readNode(t, nodeapi.NodeOptions{})
	mine := l.Names.Name(l.View.Parties[0])
	auth := &nodeapi.NodeAuth{Secret: []byte("secret")}
	c := serveNode(t, l, nodeapi.NodeOptions{Auth: auth})
	as := func(user string) nodeClient { return c.as(auth, user) }
	admin := as(nodeapi.AdminUser)
	var created userAnswer
	for id, kind := range map[string]string{"alice": `"CanActAs":{"value":{"party":"` + mine + `"}}`, "idp": `"IdentityProviderAdmin":{"value":{}}`} {
		admin.call("POST", "/v2/users", fmt.Sprintf(`{"user":{"id":%q},"rights":[{"kind":{%s}}]}`, id, kind), &created)
	}
	alice, idp := as("alice"), as("idp")
	for _, tc := range []struct{ method, path, body string }{
		{"GET", "/v2/users", ""},
		{"POST", "/v2/users", `{"user":{"id":"x"}}`},
		{"GET", "/v2/users/" + nodeapi.AdminUser, ""},
		{"GET", "/v2/users/" + nodeapi.AdminUser + "/rights", ""},
		{"PATCH", "/v2/users/alice", `{"user":{},"updateMask":{"paths":["metadata"]}}`},
		{"DELETE", "/v2/users/alice", ""},
		{"POST", "/v2/users/alice/rights", `{"rights":[{"kind":{"ParticipantAdmin":{"value":{}}}}]}`},
		{"PATCH", "/v2/users/idp/rights", `{"rights":[]}`},
		{"GET", "/v2/parties", ""},
		{"POST", "/v2/parties", `{"partyIdHint":"bob"}`},
		{"GET", "/v2/parties/" + mine, ""},
		{"PATCH", "/v2/parties/" + mine, `{}`},
		{"POST", "/v2/parties/external/generate-topology", `{}`},
		{"POST", "/v2/parties/external/allocate", `{}`},
		{"POST", "/devnet/advance-time", `{"duration":{"seconds":1}}`},
	} {
		alice.refuses(refusal{"alice: " + tc.method + " " + tc.path, tc.method, tc.path, tc.body, 403, "PERMISSION_DENIED"})
		as("nobody").refuses(refusal{"nobody: " + tc.method + " " + tc.path, tc.method, tc.path, tc.body, 401, "UNAUTHENTICATED"})
	}
	idp.refuses(refusal{"making administrators", "POST", "/v2/users/idp/rights", `{"rights":[{"kind":{"ParticipantAdmin":{"value":{}}}}]}`, 403, "PERMISSION_DENIED"})
	var got userAnswer
	alice.call("GET", "/v2/authenticated-user", "", &got)
	if got.User.ID != "alice" {
		t.Errorf("alice is %+v", got)
	}
	var rights rightsAnswer
	alice.call("GET", "/v2/users/alice/rights", "", &rights)

	conn := alice.dial("/v2/updates", updatesBody(c.serverEnd(l), 0, fmt.Sprintf(`{"includeReassignments":{"filtersByParty":{%q:{}}}}`, mine)))
	idp.call("PATCH", "/v2/users/alice", `{"user":{"isDeactivated":true},"updateMask":{"paths":["isDeactivated"]}}`, &got)
	frame, err := alice.frame(conn)
	for err == nil && strings.Contains(string(frame), "OffsetCheckpoint") {
		frame, err = alice.frame(conn)
	}
	if err != nil || alice.decodeError(frame).Code != "STALE_STREAM_AUTHORIZATION" {
		t.Errorf("the stream of a deactivated user goes on: %v, %s", err, frame)
	}
	if _, err := alice.frame(conn); websocket.CloseStatus(err) != websocket.StatusInternalError {
		t.Errorf("after the error: %v", err)
	}
	alice.refuses(refusal{"a deactivated user", "GET", "/v2/authenticated-user", "", 401, "UNAUTHENTICATED"})
}
