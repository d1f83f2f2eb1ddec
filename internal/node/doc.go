// Package node is the client of a node's command interface: commands, users, parties,
// external parties and interactive submission. Reading a node's history is not its task.
//
// A command that was submitted ends in one of four ways: it is done, it was refused, it was
// not sent, or it cannot be known whether it was done. A lost answer leads to the last one
// for a while only: the client looks for the command's completion on the node, and sends
// the command again under the same id if there is none, which the node takes for the same
// command. So a command is executed once, or it is reported not to be, but never twice.
package node
