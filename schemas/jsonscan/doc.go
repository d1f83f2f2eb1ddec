// Package jsonscan reads JSON as bytes: one pass, no reflection, no intermediate tree.
//
// It has three layers. [Scanner] hands out tokens to hand-written decoders.
// [AppendString] and [Sorter] help hand-written encoders to write canonical JSON.
// [AppendCanonical] rewrites any JSON text into canonical form.
//
// Canonical form, which payloads and digests rely on:
//
//   - no white space
//   - object keys sorted by the bytes of their decoded UTF-8, each key once
//   - strings escape only " and \ and control characters below U+0020: \b \t \n \f \r in
//     short form, the others as \u00xx with lower-case hex digits; all else is raw UTF-8
//   - numbers exactly as written
//
// Everything that is read is checked: grammar of RFC 8259, UTF-8 (also inside keys and
// \u escapes, so a lone surrogate is an error), and at most [MaxDepth] nested arrays and
// objects. Numbers are never converted.
package jsonscan
