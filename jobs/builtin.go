package jobs

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// tick is how often the built-in server's clock is moved.
const tick = 100 * time.Millisecond

// builtin is a Redis server within this process. It listens on the loopback interface
// and asks for a random password.
type builtin struct {
	url    string
	server *miniredis.Miniredis
	stop   chan struct{}
	clock  chan struct{} // closed when the clock has stopped
}

// startBuiltin starts one.
func startBuiltin() (*builtin, error) {
	server := miniredis.NewMiniRedis()
	password := rand.Text()
	server.RequireAuth(password)
	if err := server.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("starting the built-in queue: %w", err)
	}
	b := &builtin{
		url:    fmt.Sprintf("redis://:%s@%s", password, server.Addr()),
		server: server,
		stop:   make(chan struct{}),
		clock:  make(chan struct{}),
	}
	guard.Go(b.moveClock, func(error) { close(b.clock) })
	return b, nil
}

// moveClock lets keys expire, which this server does not do by itself.
func (b *builtin) moveClock() error {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for last := time.Now(); ; {
		select {
		case now := <-ticker.C:
			b.server.FastForward(now.Sub(last))
			last = now
		case <-b.stop:
			return nil
		}
	}
}

func (b *builtin) close() {
	close(b.stop)
	<-b.clock
	b.server.Close()
}
