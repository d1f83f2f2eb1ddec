package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/query/openapi"
	"github.com/ledgerlake/ledgerlake/query/openapi/openapitest"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// servedNode is the ledger interface of a simulated node.
func servedNode(t *testing.T, ledger *devnet.Ledger, o devnet.NodeOptions) string {
	t.Helper()
	o.ListLimit = 5000
	handler, err := ledger.NodeHandler(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func nodeLedger(t *testing.T, updates int) *devnet.Ledger {
	t.Helper()
	ledger, err := devnet.New(t.Context(), devnet.Config{Updates: updates, Seed: 17, Dir: t.TempDir(), Node: &devnet.NodeConfig{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	return ledger
}

var ledgerLine = regexp.MustCompile(`ledger interface:? +(http://\S+)/`)

// ledgerURL waits until the product says where its ledger interface is.
func ledgerURL(t *testing.T, l *ledgerlake) string {
	t.Helper()
	waitForURL(t, l)
	found := ledgerLine.FindStringSubmatch(l.stdout.String())
	if found == nil {
		t.Fatalf("there is no URL of the ledger interface in %q", l.stdout.String())
	}
	return found[1]
}

// ledgerClient asks a ledger interface; document, if not nil, is held against its answers.
type ledgerClient struct {
	t        *testing.T
	url      string
	token    string
	document *openapitest.Document
}

func (c ledgerClient) do(method, path, body string) (int, []byte) {
	c.t.Helper()
	r, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	transport := http.RoundTripper(&http.Transport{DisableKeepAlives: true})
	if c.document != nil {
		transport = c.document.Transport(c.t, transport)
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return response.StatusCode, text
}

// list gets the elements of a list.
func (c ledgerClient) list(path, body string) (list []json.RawMessage) {
	c.t.Helper()
	status, text := c.do("POST", path, body)
	if err := json.Unmarshal(text, &list); status != 200 || err != nil {
		c.t.Fatalf("POST %s%s %s = %d %.300s", c.url, path, body, status, text)
	}
	return list
}

// stream gets the elements of a websocket up to its end.
func (c ledgerClient) stream(path, body string) (list []json.RawMessage) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, c.url+path, &websocket.DialOptions{Subprotocols: []string{"jwt.token." + c.token, "daml.ws.auth"}})
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(-1)
	if err := conn.Write(ctx, websocket.MessageText, []byte(body)); err != nil {
		c.t.Fatal(err)
	}
	for {
		_, frame, err := conn.Read(ctx)
		if websocket.CloseStatus(err) == websocket.StatusNormalClosure {
			return list
		}
		if err != nil {
			c.t.Fatalf("%s%s %s: %v", c.url, path, body, err)
		}
		list = append(list, frame)
	}
}

// comparable leaves out what differs for good reasons: checkpoints, which may stand anywhere;
// who submitted an update, which our stream tells more carefully; an empty workflow id, which
// the simulated node writes; and tokens.
func comparable(t *testing.T, list []json.RawMessage) (texts []string) {
	t.Helper()
	for _, raw := range list {
		var e map[string]any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		delete(e, "streamContinuationToken")
		delete(e, "workflowId") // of a contract; the simulated node does not tell it
		if update, ok := e["update"].(map[string]any); ok {
			if _, ok := update["OffsetCheckpoint"]; ok {
				continue
			}
			for _, kind := range update {
				value := kind.(map[string]any)["value"].(map[string]any)
				delete(value, "commandId")
				delete(value, "paidTrafficCost")
				dropEmpty(value, "workflowId")
			}
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		canonical, err := jsonscan.AppendCanonical(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(canonical))
	}
	return texts
}

func dropEmpty(object map[string]any, name string) {
	if object[name] == "" {
		delete(object, name)
	}
}

const (
	anyPartyFormat = `{"filtersForAnyParty":{"cumulative":[{"identifierFilter":{"WildcardFilter":{"value":{"includeCreatedEventBlob":true}}}}]},"verbose":true}`
	coinsFormat    = `{"filtersForAnyParty":{"cumulative":[{"identifierFilter":{"TemplateFilter":{"value":{"templateId":"#splice-amulet:Splice.Amulet:Amulet"}}}}]}}`
)

func ofParty(parties ...string) string {
	filters := map[string]any{}
	for _, p := range parties {
		filters[p] = map[string]any{}
	}
	text, _ := json.Marshal(map[string]any{"filtersByParty": filters}) // texts always marshal
	return string(text)
}

func updatesRequest(begin, end int64, shape, events string, descending bool) string {
	return fmt.Sprintf(`{"beginExclusive":%d,"endInclusive":%d,"descendingOrder":%v,"updateFormat":{"includeTransactions":{"transactionShape":"TRANSACTION_SHAPE_%s","eventFormat":%s},`+
		`"includeReassignments":%s,"includeTopologyEvents":{"includeParticipantAuthorizationEvents":{"parties":["nobody::1220"]}}}}`, begin, end, descending, shape, events, events)
}

// The interface must answer like the node whose stream it keeps, over the real store: lists,
// websockets, active contracts and single updates. So it must out of copies by offset.
func TestLedgerInterfaceAnswersLikeTheNode(t *testing.T) {
	t.Parallel()
	needEngine(t)
	t.Run("without copies", func(t *testing.T) { answersLikeTheNode(t, schematest.Rounds(600, 1500)) })
	t.Run("out of copies", func(t *testing.T) { answersLikeTheNode(t, schematest.Rounds(300, 600), "--lookup-rows") })
}

func answersLikeTheNode(t *testing.T, updates int, options ...string) {
	t.Parallel()
	ledger := nodeLedger(t, updates)
	theirs := ledgerClient{t: t, url: servedNode(t, ledger, devnet.NodeOptions{})}
	store, copied := ownStore(t), len(options) > 0
	options = append(options, store...)
	mustRun(t, append(options, "ingest", "--once", "--node-url", theirs.url)...)
	if out := string(mustRun(t, append(store, "verify")...)); strings.Contains(out, "copies") != copied {
		t.Errorf("verify says of the copies:\n%s", out)
	}
	server := start(t, append(options, "serve", "--listen", "127.0.0.1:0", "--ledger-listen", "127.0.0.1:0", "--ledger-list-limit", "5000")...)
	document, err := openapitest.Load(openapi.Ledger, []string{""})
	if err != nil {
		t.Fatal(err)
	}
	ours := ledgerClient{t: t, url: ledgerURL(t, server), document: document}

	_, endText := theirs.do("GET", "/v2/state/ledger-end", "")
	if status, text := ours.do("GET", "/v2/state/ledger-end", ""); status != 200 || string(text) != strings.TrimSpace(string(endText)) {
		t.Fatalf("our end %d %s, the node's %s", status, text, endText)
	}
	end := parse[struct{ Offset int64 }](t, endText).Offset
	parties := ledgerParties(t, theirs, end)
	formats := []string{anyPartyFormat, coinsFormat, ofParty(parties[0]), ofParty(parties[1]), ofParty(parties...)}
	random := rand.New(rand.NewPCG(1, 2))
	count := 0
	for n := range 12 {
		begin := random.Int64N(end)
		request := updatesRequest(begin, begin+random.Int64N(end-begin+1), []string{"ACS_DELTA", "LEDGER_EFFECTS"}[n%2], formats[n%len(formats)], n%3 == 0)
		want := comparable(t, theirs.list("/v2/updates", request))
		count += len(want)
		for name, got := range map[string][]json.RawMessage{
			"list": ours.list("/v2/updates", request), "flats": ours.list("/v2/updates/flats", request), "websocket": ours.stream("/v2/updates", request),
		} {
			sameTexts(t, name+" "+request, comparable(t, got), want)
		}
		at := random.Int64N(end + 1)
		request = fmt.Sprintf(`{"activeAtOffset":%d,"eventFormat":%s}`, at, formats[n%len(formats)])
		want = comparable(t, theirs.list("/v2/state/active-contracts", request))
		slices.Sort(want)
		count += len(want)
		for name, got := range map[string][]json.RawMessage{
			"list": ours.list("/v2/state/active-contracts", request), "websocket": ours.stream("/v2/state/active-contracts", request),
		} {
			texts := comparable(t, got)
			slices.Sort(texts)
			sameTexts(t, name+" "+request, texts, want)
		}
	}
	t.Logf("%d elements compared", count)
	checkSingles(t, ours, end)
	checkPages(t, ours, end)
	checkRefusals(t, ours, theirs, end)
}

// ledgerParties are the parties that see the most, by number of the created events.
func ledgerParties(t *testing.T, c ledgerClient, end int64) []string {
	t.Helper()
	seen := map[string]int{}
	for _, raw := range c.list("/v2/state/active-contracts", fmt.Sprintf(`{"activeAtOffset":%d,"eventFormat":%s}`, end, anyPartyFormat)) {
		e := parse[struct {
			ContractEntry map[string]struct {
				CreatedEvent struct{ WitnessParties []string }
			}
		}](t, raw)
		for _, entry := range e.ContractEntry {
			for _, p := range entry.CreatedEvent.WitnessParties {
				seen[p]++
			}
		}
	}
	var parties []string
	for p := range seen {
		parties = append(parties, p)
	}
	slices.SortFunc(parties, func(a, b string) int {
		if seen[a] != seen[b] {
			return seen[b] - seen[a]
		}
		return strings.Compare(a, b)
	})
	if len(parties) < 3 {
		t.Fatalf("the node has the parties %v only", parties)
	}
	return parties[:min(len(parties), 12)]
}

func sameTexts(t *testing.T, name string, got, want []string) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			at := 0 // what differs comes late in long elements
			for at < min(len(got[i]), len(want[i])) && got[i][at] == want[i][at] {
				at++
			}
			at = max(at-200, 0)
			t.Fatalf("%s: element %d is, from byte %d,\n%.600s\nthe node gives\n%.600s", name, i, at, got[i][at:], want[i][at:])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, the node gives %d", name, len(got), len(want))
	}
}

// checkSingles asks for updates and contracts one by one.
func checkSingles(t *testing.T, ours ledgerClient, end int64) {
	t.Helper()
	type update struct {
		Update map[string]struct {
			Value struct {
				UpdateID string `json:"updateId"`
				Offset   int64
				Events   []map[string]struct {
					ContractID string `json:"contractId"`
					// Unassignments and assignments have it further in.
					Value, CreatedEvent struct {
						ContractID string `json:"contractId"`
					}
				}
			}
		}
	}
	format := fmt.Sprintf(`{"includeTransactions":{"transactionShape":"TRANSACTION_SHAPE_ACS_DELTA","eventFormat":%s},"includeReassignments":%s}`, anyPartyFormat, anyPartyFormat)
	for i, raw := range ours.list("/v2/updates", fmt.Sprintf(`{"beginExclusive":0,"endInclusive":%d,"updateFormat":%s}`, end, format)) {
		if i%61 != 0 {
			continue
		}
		for _, kind := range parse[update](t, raw).Update {
			_, byID := ours.do("POST", "/v2/updates/update-by-id", fmt.Sprintf(`{"updateId":%q,"updateFormat":%s}`, kind.Value.UpdateID, format))
			_, byOffset := ours.do("POST", "/v2/updates/update-by-offset", fmt.Sprintf(`{"offset":%d,"updateFormat":%s}`, kind.Value.Offset, format))
			if string(byID) != string(raw) || string(byOffset) != string(raw) {
				t.Errorf("the update of the list\n%s\nis by id\n%s\nand by offset\n%s", raw, byID, byOffset)
			}
			for _, event := range kind.Value.Events {
				for name, e := range event {
					id := cmp.Or(e.ContractID, e.Value.ContractID, e.CreatedEvent.ContractID)
					status, text := ours.do("POST", "/v2/events/events-by-contract-id", fmt.Sprintf(`{"contractId":%q,"eventFormat":%s}`, id, anyPartyFormat))
					if half := strings.ToLower(strings.TrimSuffix(name, "Event")); status != 200 || name[0] != 'J' && !strings.Contains(string(text), `"`+half+`":{`) {
						t.Errorf("the events of contract %s, of which there is %s, are %d %s", id, name, status, text)
					}
				}
			}
		}
	}
}

// checkPages puts the pages of both directions together.
func checkPages(t *testing.T, ours ledgerClient, end int64) {
	t.Helper()
	for _, descending := range []bool{false, true} {
		request := updatesRequest(0, end, "ACS_DELTA", coinsFormat, descending)
		want := ours.list("/v2/updates", request)
		paged := strings.NewReplacer("beginExclusive", "beginOffsetExclusive", "endInclusive", "endOffsetInclusive").Replace(request)
		var got []json.RawMessage
		for token, border := "", int64(-1); ; {
			status, text := ours.do("POST", "/v2/updates/get-updates-page", fmt.Sprintf(`%s,"maxPageSize":37,"pageToken":%q}`, strings.TrimSuffix(paged, "}"), token))
			page := parse[struct {
				Updates                    []json.RawMessage
				LowestPageOffsetExclusive  int64
				HighestPageOffsetInclusive int64
				NextPageToken              string
			}](t, text)
			near, far := page.LowestPageOffsetExclusive, page.HighestPageOffsetInclusive
			if descending {
				near, far = far, near
			}
			if status != 200 || len(page.Updates) > 37 || border >= 0 && near != border {
				t.Fatalf("page %d %.200s after offset %d", status, text, border)
			}
			border, got = far, append(got, page.Updates...)
			if token = page.NextPageToken; token == "" {
				break
			}
		}
		sameTexts(t, "pages", comparable(t, got), comparable(t, want))
	}
}

// checkRefusals compares the codes of refused requests with the node's.
func checkRefusals(t *testing.T, ours, theirs ledgerClient, end int64) {
	t.Helper()
	for _, request := range []string{
		updatesRequest(end+1, end+1, "ACS_DELTA", anyPartyFormat, false), updatesRequest(0, end+1, "ACS_DELTA", anyPartyFormat, false),
		updatesRequest(-1, 1, "ACS_DELTA", anyPartyFormat, false), updatesRequest(5, 4, "ACS_DELTA", anyPartyFormat, false),
		updatesRequest(0, 4, "ACS_DELTA", `{}`, false),
		strings.ReplaceAll(updatesRequest(0, 4, "ACS_DELTA", coinsFormat, false), "Splice.Amulet:Amulet", "No.Such:Template"),
		strings.ReplaceAll(updatesRequest(0, 4, "ACS_DELTA", coinsFormat, false), "#splice-amulet", "#no-such-package"),
		`{`, `[]`, `{"beginExclusive":"0"}`, `{"beginExclusive":0,"endInclusive":4}`,
	} {
		ourStatus, ourText := ours.do("POST", "/v2/updates", request)
		theirStatus, theirText := theirs.do("POST", "/v2/updates", request)
		code := func(text []byte) string {
			var e struct{ Code string }
			if json.Unmarshal(text, &e) != nil {
				return "text"
			}
			return e.Code
		}
		if ourStatus != theirStatus || code(ourText) != code(theirText) {
			t.Errorf("%s: %d %s, the node answers %d %s", request, ourStatus, ourText, theirStatus, theirText)
		}
	}
}

const ledgerSecret = "a shared secret of 32 characters, or so"

// A network that lives is followed: up shows the ledger interface, and a websocket gets what
// its node sees within moments.
func TestUpServesTheLedgerInterface(t *testing.T) {
	t.Parallel()
	needEngine(t)
	up := start(t, "up", "--data", t.TempDir(), "--updates", "200", "--days", "1", "--live", "20", "--listen", "127.0.0.1:0", "--follow-interval", "100ms")
	ours := ledgerURL(t, up)
	deadline := time.Now().Add(60 * time.Second)
	for !ready(ours + "/readyz") {
		if time.Now().After(deadline) {
			t.Fatalf("not ready after 60 s: %s", tail(up.stderr.String()))
		}
		time.Sleep(50 * time.Millisecond)
	}
	_, text := (ledgerClient{t: t, url: ours}).do("GET", "/v2/state/ledger-end", "")
	end := parse[struct{ Offset int64 }](t, text).Offset
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, ours+"/v2/updates", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	request := fmt.Sprintf(`{"beginExclusive":%d,"updateFormat":{"includeTransactions":{"transactionShape":"TRANSACTION_SHAPE_ACS_DELTA","eventFormat":%s}}}`, end, anyPartyFormat)
	if err := conn.Write(ctx, websocket.MessageText, []byte(request)); err != nil {
		t.Fatal(err)
	}
	for updates, checkpoints := 0, 0; updates < 20 || checkpoints < 2; {
		_, frame, err := conn.Read(ctx)
		if err != nil {
			t.Fatalf("after %d updates and %d checkpoints: %v", updates, checkpoints, err)
		}
		if strings.Contains(string(frame), `"OffsetCheckpoint"`) {
			checkpoints++
		} else {
			updates++
		}
	}
}

// The stream of a node that has forgotten its beginning begins where the node's does: what was
// before is refused as the node refuses it, and the rest is the same, its active contracts
// included.
func TestLedgerInterfaceOfAPrunedNode(t *testing.T) {
	t.Parallel()
	needEngine(t)
	ledger := nodeLedger(t, 400)
	_, endText := (ledgerClient{t: t, url: servedNode(t, ledger, devnet.NodeOptions{})}).do("GET", "/v2/state/ledger-end", "")
	end := parse[struct{ Offset int64 }](t, endText).Offset
	pruned := end / 2
	theirs := ledgerClient{t: t, url: servedNode(t, ledger, devnet.NodeOptions{PrunedOffset: pruned})}
	data := t.TempDir()
	mustRun(t, "ingest", "--once", "--data", data, "--node-url", theirs.url)
	server := start(t, "serve", "--data", data, "--listen", "127.0.0.1:0", "--ledger-list-limit", "5000")
	ours := ledgerClient{t: t, url: ledgerURL(t, server)}
	offsets := parse[struct{ ParticipantPrunedUpToInclusive int64 }](t, second(ours.do("GET", "/v2/state/latest-pruned-offsets", "")))
	begin := offsets.ParticipantPrunedUpToInclusive
	if begin < pruned || begin > end {
		t.Fatalf("our stream begins after offset %d, the node's after %d, and ends at %d", begin, pruned, end)
	}
	for path, request := range map[string]string{
		"/v2/updates":                updatesRequest(pruned-1, end, "ACS_DELTA", anyPartyFormat, false),
		"/v2/state/active-contracts": fmt.Sprintf(`{"activeAtOffset":%d,"eventFormat":%s}`, pruned-1, anyPartyFormat),
	} {
		for name, c := range map[string]ledgerClient{"we": ours, "the node": theirs} {
			if status, text := c.do("POST", path, request); status != 400 || !strings.Contains(string(text), `"PARTICIPANT_PRUNED_DATA_ACCESSED"`) {
				t.Errorf("%s answer %s %s with %d %s", name, path, request, status, text)
			}
		}
	}
	request := updatesRequest(begin, end, "LEDGER_EFFECTS", anyPartyFormat, false)
	sameTexts(t, "updates", comparable(t, ours.list("/v2/updates", request)), comparable(t, theirs.list("/v2/updates", request)))
	for _, at := range []int64{begin, (begin + end) / 2, end} {
		request := fmt.Sprintf(`{"activeAtOffset":%d,"eventFormat":%s}`, at, anyPartyFormat)
		got, want := comparable(t, ours.stream("/v2/state/active-contracts", request)), comparable(t, theirs.list("/v2/state/active-contracts", request))
		slices.Sort(got)
		slices.Sort(want)
		sameTexts(t, fmt.Sprintf("active contracts at %d", at), got, want)
	}
}

func second[A, B any](_ A, b B) B { return b }
