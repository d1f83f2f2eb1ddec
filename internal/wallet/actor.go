package wallet

// Actor is in whose name an action is done.
type Actor struct {
	// User is the ledger user, the subject of its token; Party is its primary party.
	User, Party string
	// Install is the id of the user's contract WalletAppInstall; the wallet looks for it
	// when it is empty.
	Install string
}

// Done says how an action ended.
type Done struct {
	// ContractID is what the action is about: the contract that it made, see each action.
	ContractID string
	// UpdateID and Offset are the node's update.
	UpdateID string
	Offset   int64
	// Visible says that the store shows the update already. It is false when that took
	// longer than Config.Wait.
	Visible bool
}
