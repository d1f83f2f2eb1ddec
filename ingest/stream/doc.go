// Package stream has what the ingesters of public history and of a node's stream share:
// their settings, the sink that takes their batches, how batches are cut and written, and
// the status that operators see. It knows no upstream.
package stream
