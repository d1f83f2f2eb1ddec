// Package reshard moves a store into a cluster. Partition by partition it reads the rows of the source
// in a total order, in pieces of a number of rows that is noted first, and inserts them with tokens made
// of the piece. After each piece it notes how far it is, in table reshard of the target. Whoever goes on
// after a crash begins where the last note says, and the tokens drop the one piece that may be there
// already.
//
// A partition is noted as done when the sums of the hashes of its rows are equal in source and target;
// one that differs is dropped from the target and copied again. The tables of the first shard come last,
// and of them the journal, without which there is no store.
package reshard
