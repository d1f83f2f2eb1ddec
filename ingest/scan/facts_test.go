package scan

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

// factMemory is a FactStore that remembers everything.
type factMemory struct {
	mu   sync.Mutex
	kept []facts.Fact
	fail error
}

func (m *factMemory) LatestFact(_ context.Context, key facts.Key) (facts.Fact, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range slices.Backward(m.kept) {
		if f.Key == key {
			return f, nil
		}
	}
	return facts.Fact{}, schemas.ErrNotFound
}

func (m *factMemory) KeepFact(_ context.Context, f facts.Fact, _ string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	m.kept = append(m.kept, f)
	return nil
}

// bodies are all versions of a key.
func (m *factMemory) bodies(key facts.Key) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := []string{}
	for _, f := range m.kept {
		if f.Key == key {
			list = append(list, string(f.Body))
		}
	}
	return list
}

// oracle is an upstream that answers from a map by path; what is not in it is 404.
type oracle struct {
	*httptest.Server
	mu      sync.Mutex
	answers map[string]string
	status  int // instead of all answers
	delay   time.Duration
	asked   map[string]int
}

func newOracle(t *testing.T, answers map[string]string) *oracle {
	o := &oracle{answers: answers, asked: map[string]int{}}
	o.Server = httptest.NewServer(o)
	t.Cleanup(o.Close)
	return o
}

func (o *oracle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.asked[r.URL.EscapedPath()]++
	answer, ok := o.answers[r.URL.EscapedPath()]
	status, delay := o.status, o.delay
	o.mu.Unlock()
	time.Sleep(delay)
	switch {
	case status != 0:
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(status)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	default:
		fmt.Fprint(w, answer)
	}
}

func (o *oracle) set(path, answer string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if answer == "" {
		delete(o.answers, path)
		return
	}
	o.answers[path] = answer
}

func (o *oracle) behave(status int, delay time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.status, o.delay = status, delay
}

func (o *oracle) times(path string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked[path]
}

const (
	serialPath = "/v0/active-synchronizer-serial"
	bootPath   = "/v0/synchronizer-bootstrapping-transactions/global-domain"
	hostPath   = "/v1/domains/s::1220/parties/p::1220/participant-id"
)

var hosts = facts.Of(facts.Participants, "s::1220", "p::1220")

func newTestFacts(t *testing.T, store FactStore, agree int, now func() time.Time, upstreams ...*oracle) *Facts {
	t.Helper()
	var urls []string
	for _, o := range upstreams {
		urls = append(urls, o.URL)
	}
	f, err := NewFacts(FactsConfig{
		URLs: urls, Agree: agree, Store: store, Log: slog.New(slog.DiscardHandler), Now: now, RequestTimeout: time.Second,
		Synchronizers: func(context.Context) ([]string, error) { return []string{"global-domain::1220aa"}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFactsAreKeptByVersion(t *testing.T) {
	boot := `{"domain_parameters":"a","sequencer_domain_state":"b","mediator_domain_state":"c"}`
	o, store := newOracle(t, map[string]string{serialPath: `{"serial":1,"more":2}`, bootPath: boot}), &factMemory{}
	f := newTestFacts(t, store, 0, nil, o)
	for range 3 {
		f.Round(t.Context())
	}
	if got := store.bodies(facts.Of(facts.Serial)); !slices.Equal(got, []string{`{"serial":1}`}) {
		t.Errorf("unchanged: %q", got)
	}
	if got := store.bodies(facts.Of(facts.Bootstrapping, "global-domain")); len(got) != 1 {
		t.Errorf("bootstrapping: %q", got)
	}
	lacking := o.times("/v0/dso")
	f.Round(t.Context())
	if again := o.times("/v0/dso"); again != lacking {
		t.Errorf("an operation that nobody has is asked for in each round: %d and %d", lacking, again)
	}
	o.set(serialPath, `{"serial":2}`)
	f.Round(t.Context())
	o.set(serialPath, `{"serial":"nonsense"}`)
	f.Round(t.Context())
	o.set(serialPath, "")
	f.Round(t.Context())
	o.set(serialPath, `{"serial":2}`)
	for range lackingRounds + 1 {
		f.Round(t.Context())
	}
	if got := store.bodies(facts.Of(facts.Serial)); !slices.Equal(got, []string{`{"serial":1}`, `{"serial":2}`, "", `{"serial":2}`}) {
		t.Errorf("versions: %q", got)
	}
	last := schemas.Micros(0)
	for _, v := range store.kept {
		if v.Operation == facts.Serial {
			if v.ValidFrom <= last || v.FetchedAt < v.ValidFrom || v.Upstream == "" {
				t.Errorf("%+v after %s", v, last)
			}
			last = v.ValidFrom
		}
	}
}

// A new store knows no synchronizer yet. Once it does, its facts are not left for the next
// interval.
func TestFactsOfASynchronizerThatIsNew(t *testing.T) {
	boot := `{"domain_parameters":"a","sequencer_domain_state":"b","mediator_domain_state":"c"}`
	o, store := newOracle(t, map[string]string{bootPath: boot}), &factMemory{}
	f := newTestFacts(t, store, 0, nil, o)
	var looks atomic.Int32
	f.cfg.Interval = time.Hour
	f.cfg.Synchronizers = func(context.Context) ([]string, error) {
		if looks.Add(1) < 3 {
			return nil, nil
		}
		return []string{"global-domain::1220aa"}, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { f.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	for deadline := time.Now().Add(10 * time.Second); len(store.bodies(facts.Of(facts.Bootstrapping, "global-domain"))) == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("nothing is asked for the synchronizer, %d looks", looks.Load())
		}
	}
}

func TestFactThatCouldNotBeKeptIsKeptLater(t *testing.T) {
	o, store := newOracle(t, map[string]string{serialPath: `{"serial":1}`}), &factMemory{fail: errors.New("no store")}
	f := newTestFacts(t, store, 0, nil, o)
	f.Round(t.Context())
	store.mu.Lock()
	store.fail = nil
	store.mu.Unlock()
	f.Round(t.Context())
	if got := store.bodies(facts.Of(facts.Serial)); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestFactsOfSeveralUpstreams(t *testing.T) {
	serial := func(n int) map[string]string { return map[string]string{serialPath: fmt.Sprintf(`{"serial":%d}`, n)} }
	for name, c := range map[string]struct {
		agree   int
		answers []map[string]string
		want    string
		err     error
	}{
		"one is enough":                      {1, []map[string]string{serial(1), serial(2)}, `{"serial":1}`, nil},
		"the next has the operation":         {1, []map[string]string{{}, serial(2)}, `{"serial":2}`, nil},
		"nobody has it":                      {1, []map[string]string{{}, {}}, ``, nil},
		"two agree":                          {2, []map[string]string{serial(1), serial(2), serial(2)}, `{"serial":2}`, nil},
		"no two agree":                       {2, []map[string]string{serial(1), serial(2), serial(3)}, ``, schemas.ErrDisagreement},
		"one alone":                          {2, []map[string]string{serial(1), {serialPath: `broken`}}, ``, schemas.ErrUnavailable},
		"two know nothing":                   {2, []map[string]string{{}, serial(1), {}}, ``, nil},
		"one alone that knows nothing of it": {2, []map[string]string{{}, {serialPath: `broken`}}, ``, schemas.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			var upstreams []*oracle
			for _, answers := range c.answers {
				upstreams = append(upstreams, newOracle(t, answers))
			}
			f := newTestFacts(t, &factMemory{}, c.agree, nil, upstreams...)
			fact, err := f.fetch(t.Context(), facts.Of(facts.Serial))
			if !errors.Is(err, c.err) || err == nil && string(fact.Body) != c.want {
				t.Errorf("%s, %v; want %q, %v", fact.Body, err, c.want, c.err)
			}
		})
	}
}

// An upstream speaks of itself: the others need not agree.
func TestOwnFactNeedsNoAgreement(t *testing.T) {
	own := func(user string) map[string]string {
		return map[string]string{"/v0/dso": `{"dso_party_id":"d","sv_party_id":"s","sv_user":"` + user + `","voting_threshold":3,"dso_rules":{}}`}
	}
	f := newTestFacts(t, &factMemory{}, 2, nil, newOracle(t, own("a")), newOracle(t, own("b")))
	fact, err := f.fetch(t.Context(), facts.Of(facts.DSO))
	if err != nil || !strings.Contains(string(fact.Body), `"sv_user":"a"`) || strings.Contains(string(fact.Body), "dso_rules") {
		t.Errorf("%s, %v", fact.Body, err)
	}
}

func TestAskedFacts(t *testing.T) {
	o, store := newOracle(t, map[string]string{hostPath: `{"participant_ids":["PAR::a"]}`}), &factMemory{}
	now := time.Unix(1_780_000_000, 0)
	var mu sync.Mutex
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	pass := func(d time.Duration) { mu.Lock(); defer mu.Unlock(); now = now.Add(d) }
	f := newTestFacts(t, store, 0, clock, o)

	o.behave(0, 50*time.Millisecond)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			fact, err := f.Ask(t.Context(), hosts)
			if err != nil || string(fact.Body) != `{"participant_ids":["PAR::a"]}` {
				t.Errorf("%s, %v", fact.Body, err)
			}
		})
	}
	group.Wait()
	if n := o.times(hostPath); n != 1 {
		t.Errorf("asked %d times for 20 clients", n)
	}
	o.behave(0, 0)
	o.set(hostPath, `{"participant_ids":["PAR::b"]}`)
	if fact, err := f.Ask(t.Context(), hosts); err != nil || !strings.Contains(string(fact.Body), "PAR::a") {
		t.Errorf("within its time: %s, %v", fact.Body, err)
	}
	pass(freshFor)
	if fact, err := f.Ask(t.Context(), hosts); err != nil || !strings.Contains(string(fact.Body), "PAR::b") {
		t.Errorf("after its time: %s, %v", fact.Body, err)
	}
	if got := store.bodies(hosts); len(got) != 2 {
		t.Errorf("kept %q", got)
	}
	unknown := facts.Of(facts.Participants, "s::1220", "nobody::1220")
	for range 3 {
		if _, err := f.Ask(t.Context(), unknown); !errors.Is(err, schemas.ErrNotFound) {
			t.Errorf("of nobody: %v", err)
		}
	}
	path := strings.Replace(hostPath, "/p::", "/nobody::", 1)
	if n := o.times(path); n != 1 {
		t.Errorf("asked %d times for what is not there", n)
	}
	pass(freshFor)
	o.behave(503, 0)
	if _, err := f.Ask(t.Context(), hosts); !errors.Is(err, schemas.ErrUnavailable) {
		t.Errorf("while the upstream is away: %v", err)
	}
	asked := o.times(hostPath)
	if _, err := f.Ask(t.Context(), hosts); !errors.Is(err, schemas.ErrUnavailable) || o.times(hostPath) != asked {
		t.Errorf("asked %d times, %v, although it wants to be left alone", o.times(hostPath)-asked, err)
	}
}

func TestRewardsAreAskedForUntilFinal(t *testing.T) {
	const path = "/v0/internal/reward-accounting-process/rounds/3/root-hash"
	key := facts.Of(facts.RewardRoot, "3")
	o, store := newOracle(t, map[string]string{path: `{"status":"Undetermined"}`}), &factMemory{}
	now := time.Unix(1_780_000_000, 0)
	f := newTestFacts(t, store, 0, func() time.Time { return now }, o)
	ask := func(want string) {
		t.Helper()
		fact, err := f.Ask(t.Context(), key)
		if err != nil || string(fact.Body) != want {
			t.Errorf("%s, %v; want %s", fact.Body, err, want)
		}
	}
	ask(`{"status":"Undetermined"}`)
	if len(store.kept) != 0 {
		t.Errorf("kept %+v", store.kept)
	}
	now = now.Add(emptyFor)
	o.set(path, `{"root_hash":"ab","round_number":3,"status":"Ok"}`)
	ask(`{"root_hash":"ab","round_number":3,"status":"Ok"}`)
	now = now.Add(freshFor)
	o.set(path, "")
	ask(`{"root_hash":"ab","round_number":3,"status":"Ok"}`) // from the store
	if n := o.times(path); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

// What is remembered of clients' questions stays bounded.
func TestAskedFactsAreBounded(t *testing.T) {
	f := newTestFacts(t, &factMemory{}, 0, nil, newOracle(t, nil))
	for i := range 3 * rememberedFacts {
		f.asked.remember(facts.Of(facts.Participants, "s::1220", fmt.Sprint(i)), facts.Fact{})
	}
	if n := f.asked.known.Len(); n > rememberedFacts {
		t.Errorf("%d answers are remembered", n)
	}
}

func TestFactsConfigIsChecked(t *testing.T) {
	good := FactsConfig{URLs: []string{"http://127.0.0.1:1"}, Store: &factMemory{}, Log: slog.New(slog.DiscardHandler)}
	for name, spoil := range map[string]func(*FactsConfig){
		"no upstream": func(c *FactsConfig) { c.URLs = nil }, "no store": func(c *FactsConfig) { c.Store = nil },
		"no log": func(c *FactsConfig) { c.Log = nil }, "agreement of more than there are": func(c *FactsConfig) { c.Agree = 2 },
		"no URL": func(c *FactsConfig) { c.URLs = []string{"x"} },
	} {
		cfg := good
		spoil(&cfg)
		if _, err := NewFacts(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
