package ledger

import (
	"math/rand/v2"
	"testing"
)

// Requests by chance have an answer that is documented and no fault of the server.
func TestRandomRequests(t *testing.T) {
	source := &memory{}
	source.grow(4)
	s := serve(t, source, nil)
	r := rand.New(rand.NewPCG(12, 35))
	for range 800 {
		op := document(t).Operations[r.IntN(len(document(t).Operations))]
		if op.IsSocket() {
			continue
		}
		q, err := document(t).Random(op, r, []string{alice, bob, template, "122000000001", "0000000001", synchronizer})
		if err != nil {
			t.Fatal(err)
		}
		if a := s.do(q.Method, q.Target, q.Body); a.status >= 500 && a.status != 501 && a.status != 503 {
			t.Errorf("%s %.300s %.600s = %d %s", q.Method, q.Target, q.Body, a.status, a.body)
		}
	}
}
