package bucket

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/smithy-go"
)

func TestPausesGrowAndAreCapped(t *testing.T) {
	r := newRetryer(6)
	if got := r.MaxAttempts(); got != 6 {
		t.Errorf("%d attempts, want 6", got)
	}
	for _, test := range []struct {
		attempt     int
		least, most time.Duration
	}{
		{1, 25 * time.Millisecond, 50 * time.Millisecond},
		{2, 50 * time.Millisecond, 100 * time.Millisecond},
		{5, 400 * time.Millisecond, 800 * time.Millisecond},
		{40, 2500 * time.Millisecond, 5 * time.Second},
	} {
		for range 100 {
			got, err := r.RetryDelay(test.attempt, errors.New("connection reset"))
			if err != nil || got < test.least || got > test.most {
				t.Fatalf("after attempt %d: a wait of %s, %v, want %s to %s", test.attempt, got, err, test.least, test.most)
			}
		}
	}
}

func TestAStoreThatAsksForLessIsWaitedForLonger(t *testing.T) {
	r := newRetryer(6)
	slowDown := &smithy.GenericAPIError{Code: "SlowDown"}
	if !r.IsErrorRetryable(slowDown) || !r.IsErrorRetryable(&smithy.GenericAPIError{Code: "OperationAborted"}) {
		t.Error("what a moment later may succeed is not repeated")
	}
	var longest time.Duration
	for range 200 {
		wait, err := r.RetryDelay(3, slowDown)
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, wait)
	}
	if longest < 500*time.Millisecond {
		t.Errorf("the longest of 200 waits after the third SlowDown is %s", longest)
	}
}
