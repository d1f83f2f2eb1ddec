package validator

import (
	"math/rand/v2"
	"testing"
)

// Requests by chance have an answer that is documented and no fault of the server.
func TestRandomRequests(t *testing.T) {
	s := serve(t, full(), nil)
	r := rand.New(rand.NewPCG(13, 35))
	for range 800 {
		op := document(t).Operations[r.IntN(len(document(t).Operations))]
		q, err := document(t).Random(op, r, []string{alice, bob, "00coin", "00locked", "alice", "admin"})
		if err != nil {
			t.Fatal(err)
		}
		if a := s.as(userFor(op), q.Method, q.Target, q.Body); a.status >= 500 && a.status != 501 && a.status != 503 {
			t.Errorf("%s %.300s %.600s = %d %s", q.Method, q.Target, q.Body, a.status, a.body)
		}
	}
}
