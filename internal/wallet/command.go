package wallet

import (
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// command is how a command names a template or an interface.
func command(name string) string { return "#" + name }

// exerciseAs is the submission of one choice by one party.
func exerciseAs(party, name, contractID, choice string, argument any) node.Submission {
	return node.Submission{ActAs: []string{party}, Commands: []node.Command{node.Exercise(command(name), contractID, choice, argument)}}
}

// disclose lists contracts that the submitting parties do not see, of those whose blobs are
// known.
func disclose(contracts ...*Contract) []node.Disclosed {
	var list []node.Disclosed
	for _, c := range contracts {
		if c != nil && c.Blob != "" {
			list = append(list, node.Disclosed{TemplateID: c.TemplateID, ContractID: c.ID, Blob: c.Blob, SynchronizerID: c.SynchronizerID})
		}
	}
	return list
}

// noArgument is the argument of choices without fields.
var noArgument = struct{}{}

// reasonArgument is the argument of choices that end something for a reason.
type reasonArgument struct {
	Reason string `json:"reason"`
}

// actorArgument is the argument of choices that any party of a contract may exercise.
type actorArgument struct {
	Actor string `json:"actor"`
}

// checkAmount rejects amounts of coins that nobody can send.
func checkAmount(amount decimal.Decimal) error {
	switch {
	case amount.Sign() <= 0:
		return invalid("amount must be positive, not %s", amount)
	case !amount.Storable():
		return invalid("amount must have at most 28 digits before the point")
	}
	return nil
}

// optional is a text in compact JSON, null for "".
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// timestamp is an instant in compact JSON.
func timestamp(at time.Time) string {
	return at.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)
}
