// Package view is what a reader sees of the updates of a node's own stream: it reads the
// formats that requests ask in, says what must be read from the store for them, and
// writes updates, cut to what a format lets through, as JSON. It neither speaks HTTP nor
// looks into the store.
//
// # Who sees what
//
// A format names parties, or any party of the node, and for each which templates and
// interfaces. An event has parties that it may be shown to:
//
//   - in the shape LEDGER_EFFECTS its witnesses
//   - in the shape ACS_DELTA, in reassignments and among active contracts the stakeholders
//     of its contract that are witnesses; those of other nodes never are
//
// An event is visible when the filters of one of these parties, or those for any party,
// match its template. It then names all of these parties that the format names, or all of
// them when there are filters for any party. No other party is ever named as a witness.
// In ACS_DELTA only events with acsDelta are visible, and a consuming exercise becomes an
// ArchivedEvent. An update without visible events is not visible.
//
// A reader learns command id and traffic cost if the format names a submitter or any
// party. The stream does not name submitters of transactions: those who acted in a root
// of the transaction are taken for them, which are never more than the truth.
//
// # What is always true
//
// Whatever the filters: no byte of an event reaches a reader who does not name one of its
// witnesses or any party.
package view
