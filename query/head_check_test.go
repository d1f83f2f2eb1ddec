package query

import (
	"strings"
	"testing"
)

// typicalHead is a request as a program sends it.
const typicalHead = "GET /api/scan/v0/dso-party-id HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: Go-http-client/1.1\r\n" +
	"Accept: application/json\r\nAccept-Encoding: gzip\r\nTraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\r\n"

// However the bytes of a connection are cut, the verdict is the same.
func FuzzHeadCheck(f *testing.F) {
	f.Add(typicalHead+next, uint8(7))
	f.Add("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nab\n"+next, uint8(50))
	f.Add("POST /a HTTP/1.1\r\nHost: x\nContent-Length: 3\r\n\r\nab\n"+next, uint8(30))
	f.Fuzz(func(t *testing.T, text string, cut uint8) {
		var whole headCheck
		n, err := whole.look([]byte(text))
		var pieces headCheck
		var passed int
		var pieceErr error
		for rest := text; rest != "" && pieceErr == nil; {
			size := min(len(rest), 1+int(cut))
			var good int
			good, pieceErr = pieces.look([]byte(rest[:size]))
			passed, rest = passed+good, rest[size:]
		}
		longest := 0
		for line := range strings.SplitSeq(text, "\n") {
			longest = max(longest, len(line))
		}
		if longest < longestHeadLine && (passed != n || (err == nil) != (pieceErr == nil) || err != nil && err.Error() != pieceErr.Error()) {
			t.Errorf("%q: %d bytes and %v at once, %d and %v in pieces", text, n, err, passed, pieceErr)
		}
		if n > len(text) || err == nil && n != len(text) {
			t.Errorf("%q: %d of %d bytes, %v", text, n, len(text), err)
		}
	})
}

// Targets are taken or refused, and never panic.
func FuzzCheckPath(f *testing.F) {
	for _, path := range []string{"/v0/dso", "/a/%2e%2e/b", "/a//b", "/%252e", "/..", "/a\\b", "/%zz", "/a%2fb"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		err := checkPath([]byte(path))
		for _, bad := range []string{"/../", "/./", "//", "\\", "\x00", "\r", "\n", "/%2e%2E/", "/%2e/", "%5c", "%00"} {
			if err == nil && strings.Contains(path, bad) {
				t.Errorf("%q is taken", path)
			}
		}
	})
}

func BenchmarkHeadCheck(b *testing.B) {
	var h headCheck
	request := []byte(typicalHead)
	b.SetBytes(int64(len(request)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.look(request); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckPath(b *testing.B) {
	path := []byte("/api/scan/v0/transfer-preapprovals/by-party/alice%3A%3A1220bb")
	b.ReportAllocs()
	for b.Loop() {
		if err := checkPath(path); err != nil {
			b.Fatal(err)
		}
	}
}
