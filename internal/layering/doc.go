// Package layering holds the test of the module's import rules; it has no code of
// its own. The rules are in layering_test.go, one line per folder.
package layering
