// Package sim executes updates: those of simulated users, and what the network owes in return.
//
// An Executor decides what happens next. Its parts each own the state of one field, such as the
// coins in Bank or the mining rounds in Rounds, and reach the others by pointers that connect
// sets. All of them build the update in execution with Core.Tx, which applies each effect to
// the active contracts at once, so that no choice uses a contract that isn't active.
//
// One goroutine at a time runs an executor. Equal Configs give equal updates.
package sim
