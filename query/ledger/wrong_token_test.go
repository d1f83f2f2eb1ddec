package ledger

import (
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/query/auth/authtest"
)

// Wrong tokens open nothing: neither lists nor websockets, wherever they are.
func TestWrongTokensOpenNothing(t *testing.T) {
	source := &memory{}
	source.grow(4)
	s := secured(t, source, newRights(), nil)
	for name, token := range authtest.Wrong(secret, "all", auth.Audience(participant), time.Now()) {
		for _, path := range []string{"/v2/state/ledger-end", "/v2/updates", "/v2/state/active-contracts"} {
			r, err := http.NewRequest(http.MethodGet, s.url+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+token)
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			a.Body.Close()
			if a.StatusCode != 401 {
				t.Errorf("%s: GET %s = %d", name, path, a.StatusCode)
			}
		}
		conn, response, err := websocket.Dial(t.Context(), s.url+"/v2/updates", &websocket.DialOptions{Subprotocols: []string{"daml.ws.auth", auth.TokenProtocol + token}})
		if err == nil {
			conn.CloseNow()
		}
		if response == nil || response.StatusCode != 401 {
			t.Errorf("%s: a websocket has %v, %v", name, response, err)
		}
	}
}
