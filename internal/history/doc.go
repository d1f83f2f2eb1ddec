// Package history reads committed history back out of the store as the types of
// package schemas. Export, query and verify all read through it, so there is one
// place that knows how rows become updates again.
//
// Nothing here looks at the watermark by itself except where said: callers pass a
// range and must keep its upper end at or below Watermark.
package history
