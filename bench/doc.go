// Command bench measures the product side by side with what it is compared with, in
// one run on one machine, and prints a Markdown table. bench/RESULTS.md says how to
// read it.
//
//	go run ./bench --updates 5000 --only size
//
// Each measured part is a process of its own, this binary under a hidden first argument, so that
// the kernel accounts for the processor time and memory of that part alone. It reads /proc and so
// runs on Linux.
//
// A piece is a function measureNAME in a file of its own, and a line in pieces.go with its name
// and what it needs. What several pieces share, such as networks, engines, clients and the report,
// is package lab.
package main
