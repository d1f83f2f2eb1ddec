// Command bench measures the product side by side with what it is compared with, in
// one run on one machine, and prints a Markdown table. bench/RESULTS.md says how to
// read it.
//
//	go run ./bench --updates 5000 --only size
//
// What is measured runs in processes of its own, which are this binary under a hidden
// first argument, so that the kernel's accounts of CPU time and memory are those of
// one part each. It reads /proc and so runs on Linux.
//
// The parts: backfill and huge measure the ingest, baseline the plain way of doing
// the same (raw JSON into ClickHouse, columns by SQL), size the bytes on disk against
// the network's own layout, reads and activeset the query tier, wallet what a wallet asks for, commands
// what the simulated network executes, demo the whole path. lab shares what several of them need.
package main
