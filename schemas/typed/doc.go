// Package typed plans tables with a column for each part of a contract value: from a type of the
// catalogue to columns, from values to rows, and from rows back to values. It knows no database.
//
// How types become columns:
//
//	Int64                   Int64
//	Numeric n               Decimal(38, n)
//	Text, ContractId        String
//	Party, enum             LowCardinality(String)
//	Bool                    Bool
//	Date, Timestamp         Date32, DateTime64(6, 'UTC'), within 1900..2299
//	Unit                    no column
//	Optional t              the columns of t, Nullable; x__present where these cannot tell none
//	record                  a column for each field, x__field
//	variant                 x__tag, and the columns of each constructor, Nullable: x__Constructor
//	list                    Array(T), or for lists of records an array for each field, x__field
//	text map of scalars     Map(String, T)
//	other maps              arrays x__key and x__value; of a set x alone
//	all else                JSON text, x__json: what is recursive, nested deeper than 5, or has no room in
//	                        200 columns; lists and maps in lists; Optional (Optional t); variants with more
//	                        than 12 constructors that have content, beside x__tag
//
// A plan is recorded when it is first made. A later version of the type only adds columns, for fields and
// constructors that were appended; a value that does not fit its columns has no row of them, but an error
// that wraps ErrUnfit.
package typed
