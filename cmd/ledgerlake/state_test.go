package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestStateProbe(t *testing.T) {
	needEngine(t)
	_, upstream := network(t, 3000)
	data := t.TempDir()
	mustRun(t, "ingest", "--once", "--data", data, "--scan-url", upstream)
	server := start(t, "serve", "--data", data, "--listen", "127.0.0.1:0")
	ours := waitForURL(t, server)
	for _, c := range []string{
		"POST /v0/open-and-issuing-mining-rounds {\"cached_open_mining_round_contract_ids\":[],\"cached_issuing_round_contract_ids\":[]}",
		"GET /v0/closed-rounds", "GET /v0/dso-party-id", "GET /v0/dso", "POST /v0/amulet-rules {}", "POST /v0/external-party-coin-rules {}", "POST /v0/ans-rules {}",
		"GET /v0/featured-apps", "GET /v0/ans-entries?page_size=3", "GET /v0/ans-entries?page_size=3&name_prefix=user", "GET /v0/admin/validator/licenses?limit=2",
		"GET /v0/unclaimed-development-fund-coupons", "GET /v0/migrations/last", "GET /v0/internal/reward-accounting-process/rounds/earliest-available",
		"GET /v0/transfer-command/status?sender=x&nonce=0", "GET /v0/migrations/schedule", "GET /v0/scans",
	} {
		f := strings.SplitN(c, " ", 3)
		body := ""
		if len(f) > 2 {
			body = f[2]
		}
		req, _ := http.NewRequest(f[0], ours+f[1], strings.NewReader(body))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		t.Logf("%s = %d %.700s", c, resp.StatusCode, text)
	}
	t.Log(server.stderr.String())
}
