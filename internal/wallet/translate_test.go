package wallet

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/node"
)

func TestErrorsOfTheLedger(t *testing.T) {
	refusal := func(code string, category int) error {
		return &node.Refusal{Code: code, Category: category, Message: "said the node"}
	}
	for _, c := range []struct {
		err  error
		want error
	}{
		{refusal("CONTRACT_NOT_FOUND", 11), ErrNotFound},
		{refusal("USER_NOT_FOUND", 11), ErrNotFound},
		{refusal("INVALID_ARGUMENT", 8), ErrInvalid},
		{refusal("UNHANDLED_EXCEPTION", 9), ErrInvalid},
		{refusal("USER_ALREADY_EXISTS", 10), ErrConflict},
		{refusal("LOCAL_VERDICT_LOCKED_CONTRACTS", 2), ErrInFlight},
		{refusal("PERMISSION_DENIED", 7), ErrUnavailable},
		{fmt.Errorf("%w: x", node.ErrUnknown), ErrUnknown},
		{fmt.Errorf("%w: x", node.ErrDuplicate), ErrConflict},
		{fmt.Errorf("%w: x", node.ErrNotSent), ErrUnavailable},
		{&node.Error{Sent: true, Err: errors.New("reset")}, ErrUnavailable},
	} {
		got := translate(c.err)
		if !errors.Is(got, c.want) || !errors.Is(got, c.err) {
			t.Errorf("%v became %v, want one of kind %v", c.err, got, c.want)
		}
	}
	if translate(nil) != nil {
		t.Error("no error became one")
	}
}

func TestFailedOperations(t *testing.T) {
	for raw, want := range map[string]string{
		`{"tag":"ITR_InsufficientFunds","value":{"missingAmount":"1.5000000000"}}`:                             "Insufficient funds: missing 1.5000000000 CC",
		`{"tag":"ITR_UnknownSynchronizer","value":{"synchronizerId":"x::1"}}`:                                  "Unknown synchronizer: x::1",
		`{"tag":"ITR_InsufficientTopupAmount","value":{"requestedTopupAmount":"1","minTopupAmount":"200000"}}`: `requested "1", minimum "200000"`,
		`{"tag":"ITR_Other","value":{"description":"no"}}`:                                                     "ITR_Other no",
	} {
		err := failedOperation("1220ab", json.RawMessage(raw))
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s became %v, want %q", raw, err, want)
		}
	}
}

func TestParties(t *testing.T) {
	fingerprint := "1220" + strings.Repeat("ab", 32)
	for party, want := range map[string]bool{
		"alice::" + fingerprint: true, "a-b_c d::" + fingerprint: true, "alice": false, "::" + fingerprint: false, "alice::1220ab": false,
		"alice::" + strings.ToUpper(fingerprint): false, "a'b::" + fingerprint: false, "alice::" + strings.Repeat("ab", 34): false,
	} {
		if got := validParty(party); got != want {
			t.Errorf("validParty(%q) = %v", party, got)
		}
	}
}
