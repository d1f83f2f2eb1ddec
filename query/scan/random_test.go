package scan

import (
	"math/rand/v2"
	"testing"
)

// Requests by chance have an answer that is documented and no fault of the server.
func TestRandomRequests(t *testing.T) {
	s := serve(t, world())
	library(s)
	r := rand.New(rand.NewPCG(11, 35))
	operations := servedOperations(t)
	for range 1500 {
		op := operations[r.IntN(len(operations))]
		q, err := document(t).Random(op, r, []string{alice, bob, "1220000000", "00c003", coinTemplate, "2026-07-01T06:00:00Z"})
		if err != nil {
			t.Fatal(err)
		}
		if a := s.do(q.Method, q.Target, q.Body); a.status >= 500 && a.status != 501 && a.status != 503 {
			t.Errorf("%s %.300s %.600s = %d %s", q.Method, q.Target, q.Body, a.status, a.body)
		}
	}
}
