package view

import (
	"fmt"

	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
)

// ParseTransactionByID and ParseTransactionByOffset decode and check the requests for one transaction,
// with errors as ParseUpdates. Names of parties in place of a format ask for what is active for them.
func ParseTransactionByID(body []byte, known *Known) (*OneUpdate, error) {
	q := &OneUpdate{}
	err := readTransaction(body, known, q, "updateId", text(&q.ID))
	if err == nil {
		err = checkID("update_id", q.ID)
	}
	return q, err
}

// ParseTransactionByOffset is ParseTransactionByID for an offset.
func ParseTransactionByOffset(body []byte, known *Known) (*OneUpdate, error) {
	q := &OneUpdate{}
	var offset *int64
	if err := readTransaction(body, known, q, "offset", optional(&offset)); err != nil {
		return nil, err
	}
	return q, q.setOffset(offset)
}

// setOffset takes an offset that must be there.
func (q *OneUpdate) setOffset(offset *int64) error {
	switch {
	case offset == nil:
		return missing("offset")
	case *offset <= 0:
		return invalid("offset %d is not positive", *offset)
	}
	q.Offset = *offset
	return nil
}

func readTransaction(body []byte, known *Known, q *OneUpdate, member string, place memberReader) error {
	p, format := newFormats(known), &UpdateFormat{}
	var parties []string
	err := read(body, members{
		member: place, "requestingParties": texts(&parties),
		"transactionFormat": func(r *reader, at string) { p.transactionFormat(r, at, format) },
	})
	switch {
	case err != nil:
		return err
	case format.transactions != nil && len(parties) > 0:
		return invalid("both requesting_parties and transaction_format are specified")
	case format.transactions == nil && len(parties) == 0:
		return invalid("either requesting_parties or transaction_format is required")
	case format.transactions == nil:
		format.transactions, err = p.everythingOf(parties, false)
	}
	q.Format, format.bare = format, true
	return err
}

// TreeByID and TreeByOffset ask for one transaction as a tree, with all that any of the parties
// witnessed, or anybody if there are none. Errors are *Invalid.
func TreeByID(id string, parties []string) (*OneUpdate, error) {
	q, err := treeFor(parties)
	if err == nil {
		q.ID, err = id, checkID("update_id", id)
	}
	return q, err
}

// TreeByOffset is TreeByID for an offset.
func TreeByOffset(offset int64, parties []string) (*OneUpdate, error) {
	q, err := treeFor(parties)
	if err == nil {
		err = q.setOffset(&offset)
	}
	return q, err
}

func treeFor(parties []string) (*OneUpdate, error) {
	all, err := newFormats(nil).everythingOf(parties, false)
	return &OneUpdate{Format: &UpdateFormat{transactions: all, shape: tree, bare: true}}, err
}

// everythingOf is the format of all events of some parties, or of any party if there are none.
func (p *formats) everythingOf(parties []string, blob bool) (*EventFormat, error) {
	f := &EventFormat{}
	wildcard := &filters{wildcard: true, wildcardBlob: blob}
	wildcard.describe()
	if len(parties) > maxParties {
		return nil, invalid("more than %d parties are named", maxParties)
	}
	f.byParty = make(map[string]*filters, len(parties))
	for _, party := range parties {
		if err := checkParty(party); err != nil {
			return nil, err
		}
		f.byParty[party] = f.own(wildcard)
	}
	if len(parties) == 0 {
		f.anyParty = f.own(wildcard)
	}
	return f, nil
}

// Contract asks for the creation of a contract.
type Contract struct {
	ContractID string
	// Format lets it through if one of the parties that were named is a stakeholder.
	Format *EventFormat
}

// ParseContract decodes and checks the request for a contract, with errors as ParseUpdates.
func ParseContract(body []byte) (*Contract, error) {
	q, parties := &Contract{}, []string(nil)
	err := read(body, members{"contractId": text(&q.ContractID), "queryingParties": texts(&parties)})
	if err == nil {
		err = checkID("contract_id", q.ContractID)
	}
	if err == nil {
		q.Format, err = newFormats(nil).everythingOf(parties, true)
	}
	return q, err
}

// AppendContract appends {"createdEvent": ..} with results and errors as AppendContractEvents.
func (f *EventFormat) AppendContract(dst []byte, created *nodehistory.Event) (out []byte, visible bool, err error) {
	start, e := len(dst), created.Event()
	dst, visible, err = f.appendContractEvent(append(dst, `{"createdEvent":`...), &created.Update, e)
	if err != nil {
		return dst[:start], false, fmt.Errorf("writing contract %s: %w", e.ContractID, err)
	}
	if !visible {
		return dst[:start], false, nil
	}
	return append(dst, '}'), true, nil
}
