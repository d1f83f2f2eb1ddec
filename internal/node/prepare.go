package node

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
)

const (
	prepareOperation = "/v2/interactive-submission/prepare"
	executeOperation = "/v2/interactive-submission/executeAndWait"
)

// Prepared is a transaction for external parties to sign.
type Prepared struct {
	Transaction    []byte `json:"preparedTransaction"`
	Hash           []byte `json:"preparedTransactionHash"` // what is signed
	HashingScheme  string `json:"hashingSchemeVersion"`
	HashingDetails string `json:"hashingDetails"`
}

// Prepare has the node interpret commands without executing them. DeduplicateFor and
// DeduplicateAfter do not count.
func (c *Client) Prepare(ctx context.Context, s Submission, verbose bool) (Prepared, error) {
	user, err := c.SubmittingUser(ctx)
	if err != nil {
		return Prepared{}, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	request := struct {
		commands
		Verbose bool `json:"verboseHashing"`
	}{commands{Commands: s.Commands, CommandID: s.CommandID, UserID: user, ActAs: s.ActAs, ReadAs: s.ReadAs,
		Disclosed: s.Disclosed, SynchronizerID: s.SynchronizerID}, verbose}
	request.CommandID = cmp.Or(request.CommandID, rand.Text())
	var p Prepared
	if err := c.post(ctx, prepareOperation, request, &p); err != nil {
		return Prepared{}, asRefusal(err)
	}
	if len(p.Transaction) == 0 || len(p.Hash) == 0 {
		return Prepared{}, errors.New("the node's answer has no prepared transaction")
	}
	return p, nil
}

// asRefusal makes a *Refusal of a failed call that the node has refused.
func asRefusal(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Refused() {
		return e.Refusal()
	}
	return err
}

// Execution is a prepared transaction with the signature of its party.
type Execution struct {
	Transaction   []byte
	HashingScheme string // "" for the default
	Party         string
	Signature     []byte // Ed25519
}

// Execute has a signed transaction executed. Its errors are those of Submit.
func (c *Client) Execute(ctx context.Context, x Execution) (*Transaction, error) {
	user, err := c.SubmittingUser(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	begin, err := c.ends.recent(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	f := &inFlight{begin: begin, commands: commands{UserID: user, ActAs: []string{x.Party}, SubmissionID: rand.Text()}}
	x.HashingScheme = cmp.Or(x.HashingScheme, "HASHING_SCHEME_VERSION_V2")
	type signedBy struct {
		Party      string      `json:"party"`
		Signatures []signature `json:"signatures"`
	}
	request := map[string]any{
		"preparedTransaction": x.Transaction, "submissionId": f.SubmissionID, "userId": user, "hashingSchemeVersion": x.HashingScheme,
		"partySignatures":     map[string]any{"signatures": []signedBy{{x.Party, []signature{signatureBy(Fingerprint(x.Party), x.Signature)}}}},
		"deduplicationPeriod": deduplicationPeriod{Offset: &valueOf[int64]{begin}},
	}
	return c.settle(ctx, f, func() (*Transaction, error) {
		var answer struct {
			UpdateID string `json:"updateId"`
			Offset   int64  `json:"completionOffset"`
		}
		if err := c.post(ctx, executeOperation, request, &answer); err != nil {
			return nil, err
		}
		if answer.UpdateID == "" || answer.Offset <= 0 {
			return nil, c.withoutUpdate(executeOperation)
		}
		return c.completed(ctx, f, &completion{UpdateID: answer.UpdateID, Offset: answer.Offset})
	})
}
