package validator

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/query/auth"
)

// access walks all operations with tokens and as users that the node does not let in.
func (r *reality) access(t *testing.T) {
	alice, bob := r.register(t, "alice", "10"), r.register(t, "bob", "")
	r.register(t, "retired", "")
	r.register(t, "robbed", "")
	r.register(t, "gone", "")
	r.turnAway(t)
	operator := r.World.Operator.Party
	r.user(t, node.User{ID: "newbie"})
	// Almost administrators: each lacks one of what it takes.
	r.user(t, node.User{ID: "no-admin", PrimaryParty: operator}, actAs(operator))
	r.user(t, node.User{ID: "no-actor", PrimaryParty: operator}, admin)
	r.user(t, node.User{ID: "no-primary", PrimaryParty: alice.party}, actAs(operator), admin)
	r.user(t, node.User{ID: "off-admin", PrimaryParty: operator, Deactivated: true}, actAs(operator), admin)
	check := r.still(t, alice, bob)
	refusesWrongTokens(t, r.served)
	refusesWrongUsers(t, r.served)
	refusesWhatIsExcluded(t, r.served)
	refusesPublicKey(t, func(keys auth.Keys) *served {
		cfg := r.config(t)
		cfg.Auth = r.verifier(t, keys)
		return serveConfig(t, cfg)
	})
	check()
}

// turnAway has the node not let three users any more who have wallets.
func (r *reality) turnAway(t *testing.T) {
	t.Helper()
	rights, err := r.Client.Rights(t.Context(), "robbed")
	if err == nil {
		err = r.Client.RevokeRights(t.Context(), "robbed", rights...)
	}
	if err == nil {
		err = r.Client.DeleteUser(t.Context(), "gone")
	}
	if err != nil {
		t.Fatal(err)
	}
	body := `{"user":{"id":"retired","isDeactivated":true},"updateMask":{"paths":["is_deactivated"]}}`
	request, err := http.NewRequestWithContext(t.Context(), "PATCH", r.NodeURL+"/v2/users/retired", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("deactivating a user: %s", response.Status)
	}
	for _, user := range []string{"robbed", "gone", "retired"} {
		r.users.Forget(user)
	}
}
