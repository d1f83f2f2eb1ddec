package remote

import (
	"maps"
	"net/http"
	"testing"
	"time"
)

func TestRetryHints(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for text, want := range map[string]time.Duration{
		"1 second": time.Second, "500 milliseconds": 500 * time.Millisecond, "2 hours": 0, "1 minute": time.Minute, "soon": 0, "-1 second": 0, "999 seconds": time.Minute,
	} {
		if got := retryInfo(text); got != want {
			t.Errorf("retryInfo(%q) = %s, want %s", text, got, want)
		}
	}
	if got := RetryAfter("7", now, time.Minute); got != 7*time.Second {
		t.Errorf("retryAfter(7) = %s", got)
	}
	if got := RetryAfter(now.Add(30*time.Second).UTC().Format(http.TimeFormat), now, time.Minute); got < 28*time.Second || got > 31*time.Second {
		t.Errorf("retryAfter of a date = %s", got)
	}
}

func TestLedgerErrors(t *testing.T) {
	t.Parallel()
	body := `{"code":"NO_SUCH","cause":"none","errorCategory":11,"context":{"tid":"7","definite_answer":true},"resources":[["CONTRACT_ID","00ab"]],"retryInfo":"2 seconds","grpcCodeValue":5}`
	e, ok := ParseLedgerError([]byte(body))
	want := map[string]string{"tid": "7", "definite_answer": "true"}
	if !ok || e.Code != "NO_SUCH" || e.Cause != "none" || e.Category != 11 || e.RetryAfter != 2*time.Second || !maps.Equal(e.Context, want) || len(e.Resources) != 1 || e.Resources[0] != [2]string{"CONTRACT_ID", "00ab"} {
		t.Errorf("read %+v, %v of %s", e, ok, body)
	}
	for _, other := range []string{"", "<html>", `{"error":"no"}`, `{"code":"A"}`, `[]`} {
		if e, ok := ParseLedgerError([]byte(other)); ok {
			t.Errorf("read %+v of %q", e, other)
		}
	}
}
