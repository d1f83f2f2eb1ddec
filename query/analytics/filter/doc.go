// Package filter turns filters that people write into conditions for the store.
//
// A filter is an expression in a subset of the Common Expression Language (CEL), such as
//
//	template == "splice-amulet:Splice.Amulet:Amulet" && "alice::1220.." in signatories
//
// or a single comparison, taken apart by the caller. Both are checked against the columns of a table
// before anything is asked: names, types, sizes. A condition has the values as parameters; its text
// consists of names of columns, functions and operators alone.
package filter
