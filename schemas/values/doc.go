// Package values converts contract payloads (create arguments, choice arguments and
// exercise results) between the network's two JSON encodings:
//
//   - compact_json: {"owner":"alice::1220..","n":"42"}. It has labels but no types.
//   - protobuf_json: {"record":{"fields":[{"value":{"party":"alice::1220.."}},..]}}. Each
//     value names its kind, but fields usually have no labels and are positional.
//
// What one encoding lacks comes from a [Type]. A [Catalog] holds the types of the
// network's own templates and choices, and of any others an operator adds: [Default] and
// [Load]. [AppendCompact] and [AppendProtobuf] convert, [Fallback] writes what stands in
// the place of a value that they refuse. Types, catalogues and these functions are safe for
// concurrent use. The encodings and the files of operators are described in
// docs/formats/values.md.
//
// No value is changed on the way but in what does not count: the order of the entries of
// a text map, zeros at the end of a number, ids of types, and labels where they follow from
// the type. Where that cannot be had there is an error instead of a guess.
//
// Decisions where the network's interface leaves room:
//
//   - Optional none is null in compact_json, for every field that the protobuf record
//     holds. A record of an older package version has fewer fields than its type: the
//     trailing ones are left out of compact_json too, and a compact record without them
//     becomes a record without them. Only optional fields may be missing.
//   - protobuf_json is written without labels and ids, and without empty lists:
//     {"record":{}}, {"list":{}}. It is read with or without all of these.
//   - A numeric has at least 10 fraction digits in either output and keeps those it has
//     beyond. An exponent, as in the 0E-10 of some exercise results, is written out, up to
//     100 characters.
//   - In a record without labels, a field of another kind than its type is an error,
//     [ErrMismatch]: the type is then of another version than the value, and its labels
//     could be wrong. Only an optional and its content may stand for each other, as they
//     look alike in compact_json. Elsewhere no label is at risk, and a value that does not
//     fit its type is converted without it.
//   - A constructor that the type does not have is kept; its content is converted without
//     a type, which works if it needs none.
//   - A field beyond the type's last is dropped if it is an optional none, which means the
//     same as no field. Otherwise compact_json cannot name it, and protobuf_json
//     cannot tell its kind: [ErrUnknownField].
//
// All output is canonical JSON as package jsonscan defines it.
package values
