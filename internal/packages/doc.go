// Package packages reads compiled packages of the network's contract language, versions 2.x: what
// types, templates, choices and interfaces they have. Nothing of their code is read.
//
//   - [ReadDAR] reads a .dar file, which holds a package and all that it depends on.
//   - [ReadPayload] reads one package as a node serves it.
//   - [Definitions] turns packages into what a catalogue of values learns.
//
// Packages come from strangers. A package is identified by the SHA-256 of its bytes, which is
// compared before anything is read; sizes, counts and nesting are bounded (see limits.go), and every
// error is one line that says where it is. What the reader does not know, such as a type of a later
// version of the language, is a [Type] of kind NotData and no error.
package packages
