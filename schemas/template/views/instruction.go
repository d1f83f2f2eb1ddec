package views

import "github.com/ledgerlake/ledgerlake/schemas/jsonscan"

// instructionV1 is of a transfer that waits for its receiver: the coin's never wait for anybody else.
func instructionV1(dst []byte, r record) []byte {
	t := r.record("transfer")
	return fill(dst, `{"meta":{"values":{}},"originalInstructionCid":null,"status":{"tag":"TransferPendingReceiverAcceptance","value":{}},"transfer":$}`,
		transfer(t, t.text("sender"), t.text("receiver"), t.metadata("meta").without()))
}

func instructionV2(dst []byte, r record) []byte {
	t := r.record("transfer")
	sender, receiver, meta := t.text("sender"), t.text("receiver"), t.metadata("meta")
	return fill(dst, `{"availableActions":[[{"tag":"TIA_Accept","value":{}},[[$]]],[{"tag":"TIA_Reject","value":{}},[[$]]],[{"tag":"TIA_Withdraw","value":{}},[[$]]]],`+
		`"expiresAt":$,"meta":{"values":{}},"originalInstructionCid":null,"transfer":$}`,
		receiver, receiver, sender, t.text("executeBefore"),
		transfer(t, account(sender, meta, "sender"), account(receiver, meta, "receiver"), meta.withoutAccounts()))
}

// transfer is a transfer with the sender, receiver and metadata of a version.
func transfer(t record, sender, receiver, meta jsonscan.Value) jsonscan.Value {
	instrument := t.record("instrumentId")
	return fill(nil, `{"amount":$,"executeBefore":$,"inputHoldingCids":$,"instrumentId":{"admin":$,"id":$},"meta":$,"receiver":$,"requestedAt":$,"sender":$}`,
		t.numeric("amount"), t.text("executeBefore"), t.list("inputHoldingCids"), instrument.text("admin"), instrument.text("id"),
		meta, receiver, t.text("requestedAt"), sender)
}
