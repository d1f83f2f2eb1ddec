package lab

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"time"
)

// getter sends GET requests over one connection, each after the answer to the one before. A
// client for everybody takes a third more processor time, and that is the time of what is
// measured: both run on one machine.
type getter struct {
	conn    net.Conn
	reader  *bufio.Reader
	host    string
	request []byte
	body    []byte
}

// getterTimeout bounds the use of one connection.
const getterTimeout = 10 * time.Minute

func newGetter(ctx context.Context, base string) (*getter, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("reading the address of a server: %w", err)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", base, err)
	}
	if err := conn.SetDeadline(time.Now().Add(getterTimeout)); err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", base, err)
	}
	return &getter{conn: conn, reader: bufio.NewReaderSize(conn, 32<<10), host: u.Host}, nil
}

func (g *getter) close() error { return g.conn.Close() }

// get returns the body of the answer to GET path, until the next call. Any status but 200 is
// an error.
func (g *getter) get(path string) ([]byte, error) {
	g.request = append(g.request[:0], "GET "...)
	g.request = append(g.request, path...)
	g.request = append(g.request, " HTTP/1.1\r\nHost: "...)
	g.request = append(g.request, g.host...)
	g.request = append(g.request, "\r\n\r\n"...)
	if _, err := g.conn.Write(g.request); err != nil {
		return nil, fmt.Errorf("GET %s: %w", path, err)
	}
	status, size, err := g.head()
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", path, err)
	}
	if cap(g.body) < size {
		g.body = make([]byte, size)
	}
	g.body = g.body[:size]
	if _, err := io.ReadFull(g.reader, g.body); err != nil {
		return nil, fmt.Errorf("GET %s: reading %d bytes: %w", path, size, err)
	}
	if status != "200" {
		return nil, fmt.Errorf("GET %s answers %s: %.200s", path, status, g.body)
	}
	return g.body, nil
}

var contentLength = []byte("content-length:")

// head reads the head of an answer, which must tell the length of its body.
func (g *getter) head() (status string, size int, err error) {
	line, err := g.reader.ReadSlice('\n')
	if err != nil {
		return "", 0, err
	}
	fields := bytes.Fields(line)
	if len(fields) < 2 {
		return "", 0, fmt.Errorf("%q is not a status line", line)
	}
	status, size = string(fields[1]), -1
	for {
		if line, err = g.reader.ReadSlice('\n'); err != nil {
			return "", 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		if n := len(contentLength); len(line) > n && bytes.EqualFold(line[:n], contentLength) {
			if size, err = strconv.Atoi(string(bytes.TrimSpace(line[n:]))); err != nil {
				return "", 0, fmt.Errorf("%q is not a length", line)
			}
		}
	}
	if size < 0 {
		return "", 0, fmt.Errorf("an answer with status %s has no length", status)
	}
	return status, size, nil
}
