package validator

import (
	"testing"

	"github.com/ledgerlake/ledgerlake/query/auth/authtest"
)

// Wrong tokens open nothing, neither here nor at the validator behind.
func TestWrongTokensOpenNothing(t *testing.T) {
	m, o := full(), newOther(t)
	s := serve(t, m, func(c *Config) { c.Forward = &Forward{BaseURL: o.URL} })
	for name, token := range authtest.Wrong(secret, "alice", audience, present) {
		for _, c := range []struct{ method, path, body string }{
			{"GET", "/v0/wallet/balance", ""}, {"GET", "/v0/wallet/user-status", ""}, {"GET", "/v0/admin/users", ""},
			{"GET", "/v0/scan-proxy/dso-party-id", ""}, {"POST", "/v0/wallet/transfer-offers/00ab/accept", "{}"},
		} {
			if a := s.with(token, c.method, c.path, c.body); a.status != 401 {
				t.Errorf("%s: %s %s = %d %s", name, c.method, c.path, a.status, a.body)
			}
		}
	}
	if len(o.requests) > 0 || len(m.commands) > 0 {
		t.Errorf("%q were forwarded, %q done", o.requests, m.commands)
	}
}
