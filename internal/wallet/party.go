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

// memberForm is a kind of member and its identity.
var memberForm = regexp.MustCompile(`^(PAR|MED)::[a-zA-Z0-9:\-_ ]{1,185}::[0-9a-f]{68}$`)

// ParticipantMember is the id of a participant as a member of a synchronizer, such as
// PAR::name::1220...: traffic is bought for members. The node itself is called name::1220....
func ParticipantMember(participantID string) string { return "PAR::" + participantID }

// checkMember refuses a text that is no member of any synchronizer. Traffic bought for one would be
// lost: the ledger does not look at the id.
func checkMember(member string) error {
	if !memberForm.MatchString(member) || !node.HexFingerprint(member[len(member)-68:]) {
		return invalid("%.80q is not a member of a synchronizer, such as PAR::NAME::FINGERPRINT", member)
	}
	return nil
}
