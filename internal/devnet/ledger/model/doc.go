// Package model has the vocabulary of the simulated network: values, parties and their ids,
// templates, and the payloads of contracts.
//
// The same seed and number give the same id, and equal values are written as equal bytes.
// Amounts are Decimals, a type of its own: the network must not share arithmetic with the
// product that reads it.
package model
