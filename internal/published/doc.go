// Package published is the catalogue of what is in the bucket: which segments and folders are
// published, which objects they have, and which ones are due. The exporter writes it; whoever
// serves objects or asks what is due reads it.
//
// A version of a segment or folder is a row that is never changed, and of several versions the
// highest one counts. What is listed is complete: its row is written after its objects.
package published
