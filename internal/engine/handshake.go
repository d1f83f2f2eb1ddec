package engine

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/internal/native"
)

// What a client says first, and how much of it there may be.
const (
	maxName     = 256 // bytes of its own name, of the user, of the password, of the database
	minRevision = 54_405
	// maxRevision is the newest form of the protocol that the relay speaks; client and engine
	// then speak it with each other as well.
	maxRevision = proto.Version
	// addendumRevision is the form from which on a client says something after the server's
	// hello, a string.
	addendumRevision = 54_458
)

// clientHello is the first packet of a client.
type clientHello struct {
	name, database, user, password string
	revision                       int // of the protocol, maxRevision at most
}

// serverHello is the answer to it.
type serverHello struct{ proto.ServerHello }

// bytes is the packet for a client of a revision.
func (h serverHello) bytes(revision int) []byte {
	var b proto.Buffer
	h.Revision = min(h.Revision, maxRevision)
	h.EncodeAware(&b, revision)
	return b.Buf
}

// refusal is an error that a client is told in the form of the protocol.
type refusal struct {
	code int32
	text string
}

func (r refusal) Error() string { return r.text }

// Errors that a client is told, with the codes that the engine has for them.
var (
	errAuthentication = refusal{516, "Authentication failed: password is incorrect, or there is no user with such name."}
	errUnexpected     = refusal{101, "Unexpected packet from client: this address speaks ClickHouse's native protocol."}
	errTooLong        = refusal{131, "Too large string size in the client's hello."}
	errTooOld         = refusal{101, "The client is too old: its form of the protocol is from before 2018."}
	errTooManyClients = refusal{202, "Too many clients are connected to the embedded engine."}
	errAway           = refusal{210, "The embedded engine does not answer at the moment; it is being restarted."}
)

// refuse tells a client why it is refused, if it can be told, and returns err.
func refuse(conn net.Conn, err error) error {
	var told refusal
	if !errors.As(err, &told) {
		return err
	}
	var b proto.Buffer
	proto.ServerCodeException.Encode(&b)
	b.PutInt32(told.code)
	b.PutString("DB::Exception")
	b.PutString("DB::Exception: " + told.text)
	b.PutString("") // no stack trace
	b.PutBool(false)
	if _, writeErr := conn.Write(b.Buf); writeErr != nil {
		return errors.Join(err, writeErr)
	}
	return err
}

// greeting reads the client's part of a handshake.
type greeting struct{ in *bufio.Reader }

func newGreeting(conn net.Conn) *greeting { return &greeting{bufio.NewReader(conn)} }

// rest is what was read and does not belong to the handshake.
func (g *greeting) rest() []byte {
	rest, _ := g.in.Peek(g.in.Buffered()) // as many are there
	return rest
}

// hello reads the first packet.
func (g *greeting) hello() (h clientHello, err error) {
	packet, err := g.in.ReadByte()
	if err != nil {
		return h, fmt.Errorf("reading a client's hello: %w", err)
	}
	if packet != byte(proto.ClientCodeHello) {
		return h, errUnexpected
	}
	if h.name, err = g.text(); err != nil {
		return h, err
	}
	var major, minor uint64
	revision := uint64(0)
	for _, number := range []*uint64{&major, &minor, &revision} {
		if *number, err = binary.ReadUvarint(g.in); err != nil {
			return h, fmt.Errorf("reading a client's hello: %w", err)
		}
	}
	for _, text := range []*string{&h.database, &h.user, &h.password} {
		if *text, err = g.text(); err != nil {
			return h, err
		}
	}
	if revision < minRevision {
		return h, errTooOld
	}
	h.revision = int(min(revision, maxRevision))
	return h, nil
}

// addendum reads what a client says after the server's hello: a key for quotas, of which
// there are none.
func (g *greeting) addendum(revision int) error {
	if revision < addendumRevision {
		return nil
	}
	_, err := g.text()
	return err
}

// text reads a string.
func (g *greeting) text() (string, error) {
	n, err := binary.ReadUvarint(g.in)
	if err != nil {
		return "", fmt.Errorf("reading a client's hello: %w", err)
	}
	if n > maxName {
		return "", errTooLong
	}
	b := make([]byte, n)
	for i := range b {
		if b[i], err = g.in.ReadByte(); err != nil {
			return "", fmt.Errorf("reading a client's hello: %w", err)
		}
	}
	return string(b), nil
}

// dialEngine opens a connection to the engine in the place of a client, and chooses the
// database afterwards: one that does not exist would fail the handshake.
func dialEngine(ctx context.Context, p ports, hello clientHello) (*net.TCPConn, serverHello, error) {
	conn, err := native.Dialer{}.DialContext(ctx, "tcp", net.JoinHostPort(p.host, strconv.Itoa(p.tcp)))
	if err != nil {
		return nil, serverHello{}, errors.Join(errAway, err)
	}
	client, err := ch.Connect(ctx, conn, ch.Options{
		User: hello.user, Password: hello.password, ClientName: hello.name, ProtocolVersion: hello.revision,
	})
	if err != nil {
		return nil, serverHello{}, errors.Join(errAway, err, conn.Close())
	}
	if err := use(ctx, client, hello.database); err != nil {
		return nil, serverHello{}, errors.Join(err, conn.Close())
	}
	return native.Plain(conn).(*net.TCPConn), serverHello{client.ServerInfo()}, nil
}

// use makes database that of the connection.
func use(ctx context.Context, client *ch.Client, database string) error {
	if database == "" || database == "default" {
		return nil // so it is by itself
	}
	err := client.Do(ctx, ch.Query{Body: "USE `" + escapeName.Replace(database) + "`"})
	if e, ok := ch.AsException(err); ok {
		return refusal{int32(e.Code), e.Message}
	}
	if err != nil {
		return errors.Join(errAway, err)
	}
	return nil
}

// escapeName makes a name fit for backquotes.
var escapeName = strings.NewReplacer("\\", "\\\\", "`", "\\`")
