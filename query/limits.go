package query

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxClients is how many client addresses have a rate of their own at once.
const maxClients = 10_000

// rates limits requests per second, over all clients and for each client address.
type rates struct {
	all       *rate.Limiter // nil: no limit
	perClient float64       // 0: no limit
	now       func() time.Time

	mu      sync.Mutex
	clients map[netip.Addr]*rate.Limiter
}

func newRates(all, perClient float64, now func() time.Time) *rates {
	r := &rates{perClient: perClient, now: now, clients: map[netip.Addr]*rate.Limiter{}}
	if all > 0 {
		r.all = rate.NewLimiter(rate.Limit(all), burst(all))
	}
	return r
}

// burst lets a second's worth of requests come at once.
func burst(perSecond float64) int { return max(1, int(perSecond)) }

// allow counts one request and returns an Error of class RateLimited if it is one
// too many.
func (r *rates) allow(client netip.Addr) error {
	if r.perClient > 0 && !r.client(client).AllowN(r.now(), 1) {
		return Errorf(RateLimited, "Rate limit exceeded for this client.")
	}
	if r.all != nil && !r.all.AllowN(r.now(), 1) {
		return Errorf(RateLimited, "Rate limit exceeded.")
	}
	return nil
}

func (r *rates) client(addr netip.Addr) *rate.Limiter {
	addr = network(addr)
	r.mu.Lock()
	defer r.mu.Unlock()
	l, ok := r.clients[addr]
	if !ok {
		if len(r.clients) >= maxClients {
			r.forget()
		}
		l = rate.NewLimiter(rate.Limit(r.perClient), burst(r.perClient))
		r.clients[addr] = l
	}
	return l
}

// forget drops the clients that have their whole burst left, since a new limiter
// treats them alike; if nobody is idle it drops all, which is lenient but bounded.
func (r *rates) forget() {
	for addr, l := range r.clients {
		if l.TokensAt(r.now()) >= float64(l.Burst()) {
			delete(r.clients, addr)
		}
	}
	if len(r.clients) >= maxClients {
		clear(r.clients)
	}
}

// network is the part of an address that tells clients apart: an IPv6 client usually
// owns a whole /64.
func network(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if !addr.Is6() {
		return addr
	}
	prefix, err := addr.Prefix(64)
	if err != nil {
		return addr
	}
	return prefix.Addr()
}
