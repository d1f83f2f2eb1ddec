package wallet

import (
	"regexp"

	"github.com/ledgerlake/ledgerlake/internal/node"
)

// partyForm is a name and the fingerprint of a namespace's key.
var partyForm = regexp.MustCompile(`^[a-zA-Z0-9:\-_ ]{1,185}::[0-9a-f]{68}$`)

// validParty reports whether a text has the form of a party id.
func validParty(party string) bool {
	return partyForm.MatchString(party) && node.HexFingerprint(party[len(party)-68:])
}

func checkParty(party string) error {
	if !validParty(party) {
		return invalid("%.80q is not a party", party)
	}
	return nil
}
