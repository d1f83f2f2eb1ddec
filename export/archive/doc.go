// Package archive reads published segments back from the bucket alone, without any store: it
// looks updates up, proves that they are published, and restores a store from them. It also
// checks the objects of a segment against its manifest.
//
// What it returns was compared with the manifests: rows that are not those that were published
// are an error.
package archive
