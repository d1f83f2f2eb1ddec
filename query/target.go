package query

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/valyala/fasthttp"
)

// ownTarget refuses a request target that other programs may read differently from the router,
// with an Error of class Invalid, before anything looks at its path. It leaves path and query
// string: a target in absolute form must name the host of the request and loses its origin. Of two
// slashes at the beginning one is left: clients of the network put a path behind a base URL that
// ends with a slash.
func ownTarget(rc *fasthttp.RequestCtx) error {
	target := rc.RequestURI()
	if len(target) == 0 || target[0] != '/' {
		rest, ok := withoutOrigin(target, rc.Request.Header.Peek(fasthttp.HeaderHost))
		if !ok {
			return Errorf(Invalid, "The request target must be a path, or the URL of a path on this server.")
		}
		target = bytes.Clone(rest)
		rc.Request.SetRequestURIBytes(target)
	}
	if bytes.HasPrefix(target, []byte("//")) {
		target = bytes.Clone(target[1:])
		rc.Request.SetRequestURIBytes(target)
	}
	path, _, _ := bytes.Cut(target, []byte{'?'})
	if bytes.IndexByte(target, '#') >= 0 {
		return Errorf(Invalid, "The request target has a fragment.")
	}
	return checkPath(path)
}

// withoutOrigin takes "http://host" off a target in absolute form. ok is false for other forms,
// and for other hosts than that of the request.
func withoutOrigin(target, host []byte) (rest []byte, ok bool) {
	for _, scheme := range [...]string{"http://", "https://"} {
		if len(target) < len(scheme) || !strings.EqualFold(string(target[:len(scheme)]), scheme) {
			continue
		}
		authority := target[len(scheme):]
		slash := bytes.IndexByte(authority, '/')
		if slash < 0 || len(host) == 0 || !bytes.EqualFold(authority[:slash], host) {
			return nil, false
		}
		return authority[slash:], true
	}
	return nil, false
}

// checkPath refuses a path whose parts could be taken for others by whoever reads it next: dot
// segments, empty segments, backslashes and control characters, also when they are encoded.
func checkPath(path []byte) error {
	plain := true
	for i, c := range path {
		switch {
		case c < ' ' || c == 0x7f || c == '\\':
			return Errorf(Invalid, "The path has a character that is not allowed.")
		case c == '%':
			plain = false
		case c == '/' && i > 0 && path[i-1] == '/':
			return Errorf(Invalid, "The path has an empty segment.")
		}
	}
	if hasDotSegment(path) {
		return Errorf(Invalid, "The path has a dot segment.")
	}
	if plain {
		return nil
	}
	return checkDecoded(string(path))
}

// decodings is how often a path may have been encoded for its dot segments to be found.
const decodings = 3

// checkDecoded decodes a path, again and again as careless programs do, and looks for what must
// not come out of it. That a segment has slashes in it is allowed: ids may.
func checkDecoded(path string) error {
	for i := range decodings {
		decoded, err := url.PathUnescape(path)
		switch {
		case err != nil && i == 0:
			return Errorf(Invalid, "The path is not well-formed: %s.", err)
		case err != nil || decoded == path:
			return nil
		case strings.ContainsFunc(decoded, notInPath):
			return Errorf(Invalid, "The path has an encoded character that is not allowed.")
		case hasDotSegment([]byte(decoded)):
			return Errorf(Invalid, "The path has a dot segment.")
		}
		path = decoded
	}
	return nil
}

func notInPath(c rune) bool { return c < ' ' || c == 0x7f || c == '\\' }

// hasDotSegment reports whether a path has the segment "." or "..".
func hasDotSegment(path []byte) bool {
	for i := 0; ; {
		at := bytes.Index(path[i:], []byte("/."))
		if at < 0 {
			return false
		}
		i += at + len("/.")
		rest := path[i:]
		if len(rest) > 0 && rest[0] == '.' {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0] == '/' {
			return true
		}
	}
}

// RoutePath is the path of the request as its route has it, without the prefix of its mount:
// each parameter is decoded and escaped again, so that it stays one segment whatever is in it.
// It is for requests that are sent on: nothing in it is of the sender's making but parameters.
func (r *Request) RoutePath() (string, error) {
	var b strings.Builder
	for segment := range strings.SplitSeq(strings.TrimPrefix(r.path, "/"), "/") {
		b.WriteByte('/')
		name, isParam := strings.CutPrefix(segment, "{")
		if !isParam {
			b.WriteString(segment)
			continue
		}
		name, rest := strings.CutSuffix(strings.TrimSuffix(name, "}"), ":*")
		raw, _ := r.rc.UserValue(name).(string)
		if err := escapeParameter(&b, name, raw, rest); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// escapeParameter writes a parameter of the path, which may be several segments if it is the rest.
func escapeParameter(b *strings.Builder, name, raw string, rest bool) error {
	parts := []string{raw}
	if rest {
		parts = strings.Split(raw, "/")
	}
	for i, part := range parts {
		value, err := url.PathUnescape(part)
		if err != nil {
			return Errorf(Invalid, "The path is not well-formed: %s.", err)
		}
		if i > 0 {
			b.WriteByte('/')
		}
		segment, err := Segment(name, value)
		if err != nil {
			return err
		}
		b.WriteString(segment)
	}
	return nil
}

// Segment escapes a value as one segment of a path, or returns an Error of class Invalid for one
// that cannot be a segment. name says what it is.
func Segment(name, value string) (string, error) {
	if value == "" || value == "." || value == ".." {
		return "", Errorf(Invalid, "%s must not be %q.", name, value)
	}
	return url.PathEscape(value), nil
}

// QueryString is the query string as it was sent, percent-encoded, "" without one.
func (r *Request) QueryString() string {
	_, query, _ := strings.Cut(string(r.rc.RequestURI()), "?")
	return query
}
