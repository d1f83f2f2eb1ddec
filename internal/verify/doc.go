// Package verify digests what the store holds, so that it can be compared with what
// an upstream says it served and with what exported objects contain. It reads every
// row as it stands, without removing duplicates: a row written twice shows.
package verify
