package query

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// atTheEdge puts what holds for every request before the router: nothing else looks at a request
// that is refused here.
func (s *Server) atTheEdge(route fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(rc *fasthttp.RequestCtx) {
		if rc.Request.Header.ContentLength() == chunkedLength {
			rc.SetConnectionClose() // see headCheck
		}
		err := ownTarget(rc)
		if err == nil {
			err = s.hosts.check(rc)
		}
		if err != nil {
			rc.SetConnectionClose()
			s.refuse(rc, classify(err))
			return
		}
		route(rc)
	}
}

// chunkedLength is what the HTTP server has for the length of a chunked body.
const chunkedLength = -1

// hosts are the names of a server. A page in a browser can send requests to any address, this
// machine's included, under a name that its author has, and read the answers as its own once the
// name leads to that address (DNS rebinding). So a name counts only if no stranger can have it.
type hosts struct {
	any   bool
	names map[string]bool
}

func newHosts(names []string) hosts {
	h := hosts{names: map[string]bool{}}
	for _, name := range names {
		h.any = h.any || name == "*"
		h.names[string(lowerHost([]byte(name)))] = true
	}
	return h
}

// check refuses a request for a name that is not the server's, and one that a page of another
// site has a browser send to change something.
func (h hosts) check(rc *fasthttp.RequestCtx) error {
	host := rc.Request.Header.Peek(fasthttp.HeaderHost)
	name, ok := hostName(host)
	switch {
	case len(host) == 0: // HTTP/1.0, which no browser speaks
	case !ok:
		return Errorf(Invalid, "The header Host is malformed.")
	case !h.has(name):
		return Errorf(Denied, "The server is not known as %s: its operator can allow the name with --allowed-hosts.", name)
	}
	origin := rc.Request.Header.Peek(fasthttp.HeaderOrigin)
	if len(origin) == 0 || rc.IsGet() || rc.IsHead() || h.any || len(rc.Request.Header.Peek(fasthttp.HeaderAuthorization)) > 0 {
		return nil // a page of another site has no token to send
	}
	if !h.owns(origin, host) {
		return Errorf(Denied, "The request comes from a page of another site.")
	}
	return nil
}

// owns reports whether a page is one of ours: of the host that the request is for, or of a name
// that is configured.
func (h hosts) owns(origin, host []byte) bool {
	_, at, ok := bytes.Cut(origin, []byte("://"))
	if !ok {
		return false // "null"
	}
	if bytes.EqualFold(at, host) {
		return true
	}
	name, ok := hostName(at)
	return ok && h.names[string(lowerHost(name))]
}

// has reports whether a name, or an address, may stand for the server.
func (h hosts) has(name []byte) bool {
	if h.any || isAddress(name) {
		return true
	}
	lower := lowerHost(name)
	if bytes.IndexByte(lower, '.') < 0 { // no name of one label, such as that of a container, is in the public DNS
		return true
	}
	if h.names[string(lower)] {
		return true
	}
	for _, zone := range privateZones {
		if bytes.HasSuffix(lower, zone) {
			return true
		}
	}
	return false
}

// privateZones are those that the public DNS does not have (RFC 6761, 6762, 8375, and .internal).
// Services of clusters are below .local.
var privateZones = [...][]byte{
	[]byte(".localhost"), []byte(".local"), []byte(".internal"), []byte(".test"), []byte(".home.arpa"),
}

// hostName takes the port off a host, and brackets off an address. ok is false for what is no host.
func hostName(host []byte) (name []byte, ok bool) {
	if len(host) > 0 && host[0] == '[' {
		end := bytes.IndexByte(host, ']')
		if end < 0 || !isPort(host[end+1:]) {
			return nil, false
		}
		return host[1:end], isAddress(host[1:end])
	}
	name = host
	if colon := bytes.IndexByte(host, ':'); colon >= 0 {
		if name = host[:colon]; !isPort(host[colon:]) {
			return nil, false
		}
	}
	if len(name) == 0 {
		return nil, false
	}
	for _, c := range name {
		if letter := c | 0x20; (letter < 'a' || letter > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return nil, false
		}
	}
	return name, true
}

// isPort reports whether a text is "" or a colon with digits.
func isPort(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	for _, c := range text[1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text[0] == ':' && len(text) <= len(":65535")
}

// isAddress reports whether a name is an address as such: digits and dots, or with a colon. No name
// of the public DNS is only that, and browsers take nothing else for one.
func isAddress(name []byte) bool {
	if bytes.IndexByte(name, ':') >= 0 {
		for _, c := range name {
			if letter := c | 0x20; (letter < 'a' || letter > 'f') && (c < '0' || c > '9') && c != ':' && c != '.' {
				return false
			}
		}
		return true
	}
	for _, c := range name {
		if (c < '0' || c > '9') && c != '.' {
			return false
		}
	}
	return len(name) > 0
}

// lowerHost is a name in lower case and without the dot of the root.
func lowerHost(name []byte) []byte { return bytes.TrimSuffix(bytes.ToLower(name), []byte{'.'}) }
