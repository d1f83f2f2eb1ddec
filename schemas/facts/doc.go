// Package facts is the vocabulary of what history does not tell of a network, such as the
// serial of its synchronizer or where its sequencers are: an upstream is asked, its answer
// is checked, cut to the members that are known, and kept with the time from which on it
// was given.
//
// What does not have the shape of its operation is never a fact.
package facts
