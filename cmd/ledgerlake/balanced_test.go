package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// balanced are servers over one store, with a balancer before them that gives each request to the
// next one.
type balanced struct {
	t            *testing.T
	servers      []string // URLs of the scan interfaces
	ledgers      []string
	scan, ledger string // URLs of the balancer
}

const balancedKey = "a-key-that-all-servers-have"

func newBalanced(l *standbyLab, servers int) *balanced {
	l.t.Helper()
	b := &balanced{t: l.t}
	for range servers {
		p := l.serve("--token-key", balancedKey)
		b.servers, b.ledgers = append(b.servers, waitForURL(l.t, p)), append(b.ledgers, ledgerURL(l.t, p))
	}
	b.scan, b.ledger = b.balance(b.servers), b.balance(b.ledgers)
	return b
}

func (l *standbyLab) serve(args ...string) *ledgerlake {
	l.t.Helper()
	return start(l.t, append([]string{"serve", "--clickhouse-dsn", l.dsn, "--data", l.t.TempDir(), "--listen", "127.0.0.1:0"}, args...)...)
}

// balance gives requests to servers in turn.
func (b *balanced) balance(servers []string) string {
	b.t.Helper()
	var targets []*url.URL
	for _, s := range servers {
		target, err := url.Parse(s)
		if err != nil {
			b.t.Fatal(err)
		}
		targets = append(targets, target)
	}
	var turn atomic.Int64
	balancer := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(targets[int(turn.Add(1))%len(targets)])
	}})
	b.t.Cleanup(balancer.Close)
	return balancer.URL
}

// ask makes a request and returns the status, the tag and the body of the answer.
func ask(t *testing.T, method, url, body string, headers ...string) (status int, tag string, answer []byte) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if answer, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header.Get("ETag"), answer
}

// TestServersBehindABalancer has three servers over one store that is written to meanwhile. What one of
// them has given, such as a page token, a tag or an offset, is good at the others. It takes ten
// seconds and more: four servers and an ingest work beside each other.
func TestServersBehindABalancer(t *testing.T) {
	t.Parallel()
	l := newStandbyLab(t)
	l.ingest().phase(func(phase string) bool { return phase == "following" })
	b := newBalanced(l, 3)
	for _, server := range append(b.servers, b.scan) {
		for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
			status, _, answer := ask(t, "POST", server+"/v2/updates", `{"page_size":1}`)
			if status == http.StatusOK {
				break
			}
			if time.Since(begin) > time.Minute {
				t.Fatalf("after a minute a page is answered with %d, %s", status, answer)
			}
		}
	}
	t.Run("page tokens", b.tokens)
	t.Run("a server with another key", func(t *testing.T) { b.foreignTokens(t, waitForURL(t, l.serve())) })
	t.Run("tags", b.tags)
	t.Run("nothing that was seen is gone", b.neverBack)
}

// tokens goes through lists of which each page comes from another server.
func (b *balanced) tokens(t *testing.T) {
	for _, migration := range []int{0, 1} {
		set := instantIn(t, b.servers[0], migration)
		want := activeSet(t, b.servers[0], "/v2/state/acs", set, 1000)
		for _, path := range []string{"/v2/state/acs", "/v1/state/acs"} {
			if got := activeSet(t, b.scan, path, set, len(want)/9+1); !slices.Equal(got, want) || len(want) < 20 {
				t.Errorf("%s by way of the balancer: %d contracts, one server has %d", path, len(got), len(want))
			}
		}
	}
	end := b.ledgerEnd(t, b.ledgers[0])
	one, pages := ledgerSet(t, b.ledgers[0], end, 1000)
	got, morePages := ledgerSet(t, b.ledger, end, one/9+1)
	if got != one || one < 20 || morePages <= pages {
		t.Errorf("the ledger's active set has %d contracts in %d pages by way of the balancer, one server has %d", got, morePages, one)
	}
}

func (b *balanced) ledgerEnd(t *testing.T, base string) int64 {
	t.Helper()
	return parse[struct{ Offset int64 }](t, []byte(get(t, base+"/v2/state/ledger-end"))).Offset
}

// ledgerSet counts the contracts of the active set at an offset, page by page.
func ledgerSet(t *testing.T, base string, offset int64, size int) (contracts, pages int) {
	t.Helper()
	for token := ""; pages == 0 || token != ""; pages++ {
		body := fmt.Sprintf(`{"activeAtOffset":%d,"maxPageSize":%d,"eventFormat":%s,"pageToken":%q}`, offset, size, anyPartyFormat, token)
		status, _, answer := ask(t, "POST", base+"/v2/state/active-contracts-page", body)
		if status != http.StatusOK {
			t.Fatalf("page %d: status %d, %s", pages, status, answer)
		}
		list := parse[struct {
			Contracts []any  `json:"activeContracts"`
			Token     string `json:"nextPageToken"`
		}](t, answer)
		contracts, token = contracts+len(list.Contracts), list.Token
	}
	return contracts, pages
}

// foreignTokens gives a token to a server with a key of its own, which refuses it.
func (b *balanced) foreignTokens(t *testing.T, other string) {
	body := `{"page_size":3,` + instantIn(t, b.servers[0], 1)
	status, _, answer := ask(t, "POST", b.servers[0]+"/v2/state/acs", body+`}`)
	token := parse[struct {
		Token string `json:"next_page_token"`
	}](t, answer).Token
	if status != http.StatusOK || token == "" {
		t.Fatalf("status %d, %s", status, answer)
	}
	for base, want := range map[string]int{b.servers[1]: http.StatusOK, other: http.StatusBadRequest} {
		if status, _, answer := ask(t, "POST", base+"/v2/state/acs", fmt.Sprintf(`%s,"after":%q}`, body, token)); status != want {
			t.Errorf("the token is answered with %d, want %d: %.200s", status, want, answer)
		}
	}
}

// tags compares the answers of all servers to the same request, with and without the tag of another.
func (b *balanced) tags(t *testing.T) {
	first := postRaw(t, b.servers[0]+"/v2/updates", `{"page_size":10}`)
	for _, u := range parse[struct {
		Updates []struct {
			ID string `json:"update_id"`
		} `json:"transactions"`
	}](t, first).Updates {
		id := u.ID
		for _, path := range []string{"/v2/updates/" + id, "/v2/updates/" + id + "?daml_value_encoding=protobuf_json"} {
			_, tag, want := ask(t, "GET", b.servers[0]+path, "")
			for _, server := range b.servers[1:] {
				if _, other, got := ask(t, "GET", server+path, ""); tag == "" || other != tag || !bytes.Equal(got, want) {
					t.Errorf("%s has tag %s at one server and %s at another, equal bytes: %v", path, tag, other, bytes.Equal(got, want))
				}
				if status, _, _ := ask(t, "GET", server+path, "", "If-None-Match", tag); status != http.StatusNotModified {
					t.Errorf("%s with the tag of another server is answered with %d", path, status)
				}
			}
		}
	}
}

// neverBack names at all servers what one of them has just shown as the newest.
func (b *balanced) neverBack(t *testing.T) {
	b.busy(t)
	for round := range schematest.Rounds(1, 100) {
		first, ids, latest := b.servers[round%3], map[string]bool{}, ""
		for begin := latestRecordTime(t, first); latest == "" || latest == begin; {
			time.Sleep(20 * time.Millisecond)
			latest = latestRecordTime(t, first)
		}
		_, _, answer := ask(t, "POST", first+"/v0/events", fmt.Sprintf(`{"page_size":3,"after":{"after_migration_id":1,"after_record_time":%q}}`, before(t, latest)))
		for _, e := range parse[struct {
			Events []struct {
				Update *struct {
					ID string `json:"update_id"`
				} `json:"update"`
				Verdict *struct {
					ID string `json:"update_id"`
				} `json:"verdict"`
			}
		}](t, answer).Events {
			if e.Update != nil {
				ids[e.Update.ID] = true
			}
		}
		for _, server := range b.servers {
			for id := range ids {
				if status, _, answer := ask(t, "GET", server+"/v0/events/"+id, ""); status != http.StatusOK {
					t.Errorf("an event that one server has shown is answered by another one with %d, %s", status, answer)
				}
			}
		}
		b.sameSet(t, round)
		ledger, end := b.ledgers[round%3], int64(0)
		for begin := b.ledgerEnd(t, ledger); end <= begin; {
			time.Sleep(20 * time.Millisecond)
			end = b.ledgerEnd(t, ledger)
		}
		for _, other := range b.ledgers {
			body := fmt.Sprintf(`{"activeAtOffset":%d,"maxPageSize":1,"eventFormat":%s}`, end, anyPartyFormat)
			if status, _, answer := ask(t, "POST", other+"/v2/state/active-contracts-page", body); status != http.StatusOK {
				t.Errorf("an offset that one server has named is answered by another one with %d, %s", status, answer)
			}
			body = fmt.Sprintf(`{"beginOffsetExclusive":%d,"maxPageSize":1,"updateFormat":{"includeTransactions":{"transactionShape":"TRANSACTION_SHAPE_LEDGER_EFFECTS","eventFormat":%s}}}`, end, anyPartyFormat)
			if status, _, answer := ask(t, "POST", other+"/v2/updates/get-updates-page", body); status != http.StatusOK {
				t.Errorf("an offset that one server has named is answered by another one with %d, %s", status, answer)
			}
		}
	}
}

// sameSet asks one server for the active set at the newest instant until it has it, and then the others.
func (b *balanced) sameSet(t *testing.T, round int) {
	t.Helper()
	body := fmt.Sprintf(`{"page_size":1,"migration_id":1,"at":%q}`, latestRecordTime(t, b.servers[round%3]))
	for {
		if status, _, _ := ask(t, "POST", b.servers[round%3]+"/v2/state/acs", body); status == http.StatusOK {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, server := range b.servers {
		if status, _, answer := ask(t, "POST", server+"/v2/state/acs", body); status != http.StatusOK {
			t.Errorf("a set that one server has shown is answered by another one with %d, %s", status, answer)
		}
	}
}

// busy has other clients ask all servers, which remember for a while how far history goes.
func (b *balanced) busy(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for i := range b.servers {
		for _, url := range []string{b.servers[i] + "/v0/events/latest-record-time", b.ledgers[i] + "/v2/state/ledger-end"} {
			clients.Go(func() {
				for ctx.Err() == nil {
					response, err := http.Get(url)
					if err != nil {
						continue
					}
					_, _ = io.Copy(io.Discard, response.Body)
					_ = response.Body.Close()
					time.Sleep(50 * time.Millisecond)
				}
			})
		}
	}
	t.Cleanup(func() { stop(); clients.Wait() })
}

func latestRecordTime(t *testing.T, base string) string {
	t.Helper()
	return parse[struct {
		RecordTime string `json:"record_time"`
	}](t, []byte(get(t, base+"/v0/events/latest-record-time"))).RecordTime
}

// before is the moment before a record time, so that a page begins with what has it.
func before(t *testing.T, recordTime string) string {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, recordTime)
	if err != nil {
		t.Fatal(err)
	}
	return at.Add(-time.Microsecond).Format("2006-01-02T15:04:05.000000Z")
}
