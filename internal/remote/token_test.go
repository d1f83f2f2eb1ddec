package remote

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"
)

// jwt makes a token of a user that expires at the given time; its signature means nothing.
func jwt(expires time.Time) string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"none"}`)) + "." + part(fmt.Appendf(nil, `{"sub":"alice","exp":%d}`, expires.Unix())) + ".sig"
}

func TestExpiryOfTokens(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_900_000_000, 0)
	for token, want := range map[string]time.Time{
		jwt(at): at, "opaque": {}, "a.b.c": {}, "a." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"x"}`)) + ".c": {}, "": {},
	} {
		if got := expiry(token); !got.Equal(want) {
			t.Errorf("expiry of %q is %s, want %s", token, got, want)
		}
	}
}

func TestSubjectOfTokens(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{jwt(time.Unix(1, 0)): "alice", "opaque": "", "a.b.c": "", "": ""} {
		if got := Subject(token); got != want {
			t.Errorf("subject of %q is %q, want %q", token, got, want)
		}
	}
}
