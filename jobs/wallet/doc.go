// Package wallet automates the wallets of a validator: it collects rewards, pays accepted
// offers, buys traffic, accepts and renews preapprovals, and ends what has expired.
//
// Each automation is a function from a state that was read to steps, which say what is to be
// done and why, also where nothing is. The steps of one automation are found anew each time
// it runs, and doing one twice is harmless: what is done is gone from the state, and the
// ledger takes a contract only once.
package wallet
