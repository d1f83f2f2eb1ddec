package scan

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestBulkChecksums(t *testing.T) {
	a, b := strings.Repeat("\x01", 32), strings.Repeat("\xfe", 32)
	inBase64 := base64.StdEncoding.EncodeToString
	tests := []struct {
		name, answer string
		want         []string // nil: an error
	}{
		{"as the network writes them", `{"checksums":[{"value":"` + inBase64([]byte(a)) + `"},{},{"value":"` + inBase64([]byte(b)) + `"}]}`,
			[]string{hex.EncodeToString([]byte(a)), "", hex.EncodeToString([]byte(b))}},
		{"in hex", `{"checksums":[{"value":"` + strings.ToUpper(hex.EncodeToString([]byte(b))) + `"},{"value":""},{}]}`,
			[]string{hex.EncodeToString([]byte(b)), "", ""}},
		{"too few", `{"checksums":[{},{}]}`, nil},
		{"no digest", `{"checksums":[{"value":"x"},{},{}]}`, nil},
		{"a digest of another length", `{"checksums":[{"value":"AAAA"},{},{}]}`, nil},
		{"no JSON", `<html>`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			keys := []string{"one", "two~%/ä", "three"}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var asked struct {
					Keys []string `json:"object_keys"`
				}
				if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || !slices.Equal(asked.Keys, keys) || r.URL.Path != checksumsOperation {
					t.Errorf("asked %s for %q, %v", r.URL.Path, asked.Keys, err)
				}
				if _, err := w.Write([]byte(tt.answer)); err != nil {
					t.Error(err)
				}
			}))
			defer server.Close()
			client, err := NewClient(ClientConfig{BaseURL: server.URL, GiveUpAfter: 1, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			got, err := client.BulkChecksums(t.Context(), keys)
			switch {
			case tt.want != nil && (err != nil || !slices.Equal(got, tt.want)):
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			case tt.want == nil && !errors.Is(err, schemas.ErrMalformed):
				t.Errorf("got %q, %v; want an error", got, err)
			}
		})
	}
}
