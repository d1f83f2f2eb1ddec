package engine

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Codes of ClickHouse's exceptions.
const (
	codeUnknownDatabase      = 81
	codeUnknownUser          = 192
	codeWrongPassword        = 193
	codeAuthenticationFailed = 516
)

// explainConnect says in one line why a store can't be connected to, and what to do. It wraps err.
func explainConnect(opts *clickhouse.Options, err error) error {
	at := strings.Join(opts.Addr, ",")
	fix := ""
	var refused *clickhouse.Exception
	var name *net.DNSError
	var timeout net.Error
	var op *net.OpError
	switch {
	case errors.As(err, &refused) && refused.Code == codeUnknownDatabase:
		fix = fmt.Sprintf("ClickHouse has no database %s: create it, or correct the name", opts.Auth.Database)
	case errors.As(err, &refused) && (refused.Code == codeUnknownUser || refused.Code == codeWrongPassword || refused.Code == codeAuthenticationFailed):
		fix = fmt.Sprintf("ClickHouse refuses user %s: correct the user or the password", opts.Auth.Username)
	case strings.Contains(err.Error(), "unexpected packet [72]"): // the H of HTTP/1.1
		fix = "this is an HTTP port: give the port of ClickHouse's native protocol, which is usually 9000, or 9440 with ?secure=true"
	case strings.Contains(err.Error(), "unexpected packet [21]"): // a TLS alert
		fix = "this is a TLS port: add ?secure=true"
	case errors.As(err, &name):
		fix = "there is no such host: correct the name"
	case errors.Is(err, syscall.ECONNREFUSED):
		fix = "nothing listens there: start ClickHouse, or correct the address"
	case errors.As(err, &timeout) && timeout.Timeout() && (!errors.As(err, &op) || op.Op != "dial"):
		fix = "the service there does not speak ClickHouse's native protocol: give the port of that, which is usually 9000"
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		fix = "the host does not answer: correct the address, or let connections through to it"
	default:
		return fmt.Errorf("connecting to the store at %s: %w", at, err)
	}
	return explained{fmt.Sprintf("connecting to the store at %s: %s", at, fix), err}
}

// explained has words of ours for an error that stays in the chain.
type explained struct {
	text string
	err  error
}

func (e explained) Error() string { return e.text }
func (e explained) Unwrap() error { return e.err }
