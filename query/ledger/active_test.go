package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ledgerlake/ledgerlake/query"
)

// contractsAt are the ids of the contracts active after a number of updates.
func contractsAt(number int, owners ...string) (ids []string) {
	gone := map[string]bool{}
	for n := 1; n <= number; n++ {
		if e := transaction(n).Events[0]; e.Consuming {
			gone[e.ContractID] = true
		}
	}
	for n := 1; n <= number; n++ {
		if e := transaction(n).Events[0]; e.Kind == "created" && !gone[e.ContractID] && slices.Contains(owners, e.Signatories[0]) {
			ids = append(ids, e.ContractID)
		}
	}
	return ids
}

func contracts(list []element) (ids []string) {
	for _, e := range list {
		ids = append(ids, e.contract())
	}
	return ids
}

func TestActiveContracts(t *testing.T) {
	source := &memory{}
	source.grow(300)
	s := serve(t, source, nil)
	for _, number := range []int{0, 1, 2, 3, 100, 299, 300} {
		for events, owners := range map[string][]string{anyParty: {alice, bob}, byParty(bob): {bob}, byParty("nobody::1220ff"): nil} {
			want := contractsAt(number, owners...)
			request := activeAt(offsetOf(number), events)
			var list []element
			if s.post("/v2/state/active-contracts", request, &list); !slices.Equal(contracts(list), want) {
				t.Errorf("the list of %s has %v, want %v", request, contracts(list), want)
			}
			list, refused, code := s.open("/v2/state/active-contracts", request).rest()
			if !slices.Equal(contracts(list), want) || code != 1000 || refused != nil {
				t.Errorf("the websocket of %s has %v, want %v; code %d", request, contracts(list), want, code)
			}
		}
	}
}

// A stream of contracts goes on after any of its elements, with a token for this request only.
func TestActiveContractsGoOn(t *testing.T) {
	source := &memory{}
	source.grow(30)
	s := serve(t, source, nil)
	request := activeAt(60, anyParty)
	var all []element
	s.post("/v2/state/active-contracts", request, &all)
	for i, e := range all {
		list, _, code := s.open("/v2/state/active-contracts", activeAt(60, anyParty, fmt.Sprintf(`,"streamContinuationToken":%q`, e.Token))).rest()
		if !slices.Equal(contracts(list), contracts(all[i+1:])) || code != 1000 {
			t.Errorf("after element %d: %v, code %d", i, contracts(list), code)
		}
	}
	token := fmt.Sprintf(`,"streamContinuationToken":%q`, all[3].Token)
	s.refused("POST", "/v2/state/active-contracts", activeAt(58, anyParty, token), 400, invalidArgument)
	s.refused("POST", "/v2/state/active-contracts", activeAt(60, byParty(alice), token), 400, invalidArgument)
}

type contractsPage struct {
	Contracts []element `json:"activeContracts"`
	Offset    int64     `json:"activeAtOffset"`
	Next      string    `json:"nextPageToken"`
}

func TestActiveContractsPages(t *testing.T) {
	for _, size := range []int{1, 7, 1000} {
		source := &memory{}
		source.grow(100)
		s := serve(t, source, nil)
		want := contractsAt(100, bob)
		var got []string
		for token := ""; ; {
			var page contractsPage
			offset := "" // the request for the next page may have that which the first answer gave
			if len(got)%2 == 1 {
				offset = `"activeAtOffset":200,`
			}
			s.post("/v2/state/active-contracts-page", fmt.Sprintf(`{%s"eventFormat":%s,"maxPageSize":%d,"pageToken":%q}`, offset, byParty(bob), size, token), &page)
			if len(page.Contracts) > size || page.Offset != 200 {
				t.Fatalf("page %+v", page)
			}
			got = append(got, contracts(page.Contracts)...)
			if token = page.Next; token == "" {
				break
			}
			s.refused("POST", "/v2/state/active-contracts-page", fmt.Sprintf(`{"activeAtOffset":100,"eventFormat":%s,"pageToken":%q}`, byParty(bob), token), 400, invalidArgument)
			source.grow(1) // the pages stay those of the end of the first one
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d have %v, want %v", size, got, want)
		}
	}
}

// Active sets follow the stream: a request waits for them.
func TestActiveContractsAreWaitedFor(t *testing.T) {
	source := &memory{}
	source.grow(10)
	source.mu.Lock()
	source.active = 10
	source.mu.Unlock()
	s := serve(t, source, func(c *Config, _ *query.Config) {})
	done := make(chan []element)
	go func() {
		var list []element
		s.post("/v2/state/active-contracts", activeAt(20, anyParty), &list)
		done <- list
	}()
	select {
	case list := <-done:
		t.Fatalf("answered with %v before they are known", contracts(list))
	case <-afterReads(source, 20):
	}
	source.mu.Lock()
	source.active = 20
	source.mu.Unlock()
	if got := contracts(<-done); !slices.Equal(got, contractsAt(10, alice, bob)) {
		t.Errorf("%v", got)
	}
}

func TestContractEvents(t *testing.T) {
	source := &memory{}
	source.grow(10)
	s := serve(t, source, nil)
	type half struct {
		Event struct {
			Offset int64 `json:"offset"`
		} `json:"createdEvent"`
		Archived struct {
			Offset int64 `json:"offset"`
		} `json:"archivedEvent"`
	}
	var got struct{ Created, Archived *half }
	s.post("/v2/events/events-by-contract-id", `{"contractId":"0000000001","eventFormat":`+byParty(alice)+`}`, &got)
	if got.Created == nil || got.Created.Event.Offset != 2 || got.Archived == nil || got.Archived.Archived.Offset != 4 {
		t.Errorf("%+v", got)
	}
	s.refused("POST", "/v2/events/events-by-contract-id", `{"contractId":"0000000001","eventFormat":`+byParty(bob)+`}`, 404, contractNotFound)
}
