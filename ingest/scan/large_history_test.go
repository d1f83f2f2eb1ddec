package scan

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// largeHistory makes evenly spread transactions of about 6 kB and eight events each,
// with a verdict and a traffic summary.
func largeHistory(n int) *migration {
	r := rand.New(rand.NewPCG(5, 6))
	m := &migration{previous: -1}
	at := epoch
	for range n {
		at += schemas.Micros(1 + r.IntN(400_000))
		it := item(r, 0, at)
		for it.Update == nil || it.Update.Kind != schemas.Transaction {
			it = item(r, 0, at)
		}
		u := it.Update
		u.Events, u.Events[0].Children = u.Events[:1], nil
		for node := int32(1); node < 8; node++ {
			e := created(r, u.UpdateID, node, at)
			e.Argument = argument(r)
			e.Signatories = []string{"DSO::" + hexID(r, "1220", 64), "alice::" + hexID(r, "1220", 64)}
			u.Events = append(u.Events, e)
			u.Events[0].Children = append(u.Events[0].Children, node)
		}
		m.items = append(m.items, it)
	}
	return m
}

// argument makes a record of six fields in protobuf_json.
func argument(r *rand.Rand) []byte {
	var fields []string
	for range 2 {
		fields = append(fields,
			fmt.Sprintf(`{"value":{"party":"alice::%s"}}`, hexID(r, "1220", 64)),
			fmt.Sprintf(`{"value":{"record":{"fields":[{"value":{"numeric":"%d.0000000000"}},{"value":{"record":{"fields":[{"value":{"int64":"%d"}}]}}}]}}}`, r.IntN(1e6), r.IntN(1000)),
			fmt.Sprintf(`{"value":{"optional":{"value":{"text":"note %d"}}}}`, r.IntN(1000)))
	}
	return []byte(`{"record":{"fields":[` + strings.Join(fields, ",") + `]}}`)
}
