// Package choices executes the commands of clients.
//
// A choice is an entry of the registry: template, name, controllers and a function of the
// execution, the contract and the argument, which adds consequences to the transaction and
// returns the result. A contract that commands create has a function that reads its arguments.
// As in the contract language, whatever refuses a command throws: see Refusal.
//
// What a submission does to contracts is done at once and taken back if it is refused. What
// the executor keeps track of besides follows once the submission has succeeded; see
// sim.Executor.Conclude.
package choices
