package bucket

import (
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v3"
)

// requests counts the gateway's requests in progress. versitygw cancels all of them
// when it is told to stop, so it is told only after they have ended.
type requests struct {
	open atomic.Int64
}

// count is a middleware. A request counts until its body was received and its effect
// is stored; an answer that is still being sent does not count any more.
func (r *requests) count(c fiber.Ctx) error {
	r.open.Add(1)
	defer r.open.Add(-1)
	return c.Next()
}

// drain waits until no request is open, for at most limit.
func (r *requests) drain(limit time.Duration) {
	for deadline := time.Now().Add(limit); r.open.Load() > 0 && time.Now().Before(deadline); {
		time.Sleep(2 * time.Millisecond)
	}
}
