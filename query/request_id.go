package query

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"sync/atomic"

	"github.com/valyala/fasthttp"
)

// requestIDs names requests: by the id that the caller or a proxy sent, else by a
// number that is unique among all servers.
type requestIDs struct {
	prefix string
	count  *atomic.Uint64
}

func newRequestIDs() requestIDs {
	var b [6]byte
	rand.Read(b[:]) // never fails
	return requestIDs{prefix: hex.EncodeToString(b[:]) + "-", count: new(atomic.Uint64)}
}

func (g requestIDs) of(rc *fasthttp.RequestCtx) string {
	if sent := rc.Request.Header.Peek("X-Request-Id"); plainID(sent) {
		return string(sent)
	}
	return g.prefix + strconv.FormatUint(g.count.Add(1), 10)
}

// plainID reports whether an id may go into logs and headers as it is.
func plainID(id []byte) bool {
	if len(id) == 0 || len(id) > 64 {
		return false
	}
	for _, c := range id {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return true
}
