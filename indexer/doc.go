// Package indexer turns batches of history into rows, exactly once, and derives the
// contract lifetimes from them. Start at Writer.Write; Lifetimes.Step follows it in
// the background. Invariant: after any crash the tables hold exactly the rows of an
// undisturbed run, once the stream has been resumed.
package indexer
