package engine

import (
	"errors"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// What a ClickHouse answers to a connection is named with its fix; the error stays in the chain and
// holds no password.
func TestExplainConnect(t *testing.T) {
	opts := &clickhouse.Options{Addr: []string{"ch:9000"}, Auth: clickhouse.Auth{Database: "lake", Username: "alice", Password: "secret-word"}}
	for _, c := range []struct {
		err  error
		want string
	}{
		{&clickhouse.Exception{Code: codeAuthenticationFailed}, "connecting to the store at ch:9000: ClickHouse refuses user alice: correct the user or the password"},
		{&clickhouse.Exception{Code: codeUnknownUser}, "connecting to the store at ch:9000: ClickHouse refuses user alice: correct the user or the password"},
		{&clickhouse.Exception{Code: codeWrongPassword}, "connecting to the store at ch:9000: ClickHouse refuses user alice: correct the user or the password"},
		{&clickhouse.Exception{Code: codeUnknownDatabase}, "connecting to the store at ch:9000: ClickHouse has no database lake: create it, or correct the name"},
		{errors.New("[handshake] unexpected packet [21] from server"), "connecting to the store at ch:9000: this is a TLS port: add ?secure=true"},
		{errors.New("odd"), "connecting to the store at ch:9000: odd"},
	} {
		if got := explainConnect(opts, c.err); got.Error() != c.want || !errors.Is(got, c.err) {
			t.Errorf("%v: got %v, want %s", c.err, got, c.want)
		}
	}
}
