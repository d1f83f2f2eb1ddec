// Package lab is what the pieces of bench share: it runs the pieces, starts the processes that they
// measure, reads their processor time and memory, and writes the report.
//
// What is measured once is kept for the pieces that follow: a Lab makes the network, the product's
// binary and the store of the whole history when a piece first asks for them. A piece that fails and
// a program that is missing to compare with never cost the results of another piece.
package lab
