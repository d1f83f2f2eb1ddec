package state

import (
	"testing"
)

func TestReasonText(t *testing.T) {
	for reason, want := range map[string]string{
		`{"tag":"ITR_InsufficientFunds","value":{"missingAmount":"7.5"}}`: "ITR_InsufficientFunds(7.5)",
		`{"tag":"ITR_Two","value":{"b":"2","a":1}}`:                       "ITR_Two(1,2)",
		`{"tag":"ITR_None","value":{}}`:                                   "ITR_None()",
		`{"error":"no type"}`:                                             `{"error":"no type"}`,
		`"text"`:                                                          `"text"`,
	} {
		if got := reasonText([]byte(reason)); got != want {
			t.Errorf("%s: %s, want %s", reason, got, want)
		}
	}
}
