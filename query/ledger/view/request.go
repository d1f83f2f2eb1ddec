package view

// Updates is a GetUpdatesRequest, of the list operations and of the websocket.
type Updates struct {
	// Begin is exclusive, 0 for the beginning of the stream. It is never negative.
	Begin int64
	// End is inclusive and not below Begin; nil for a stream without end.
	End *int64
	// Descending asks for updates from End down.
	Descending bool
	Format     *UpdateFormat
}

// UpdatesPage is a GetUpdatesPageRequest.
type UpdatesPage struct {
	// Begin and End are as in Updates; End nil is the end of the stream at the time.
	Begin      int64
	End        *int64
	Descending bool
	// MaxPageSize is 0 when the server may choose, and never negative.
	MaxPageSize int64
	// Token is that of the page before, "" for the first page.
	Token  string
	Format *UpdateFormat
}

// OneUpdate asks for an update by its id or by its offset.
type OneUpdate struct {
	ID     string
	Offset int64
	Format *UpdateFormat
}

// Active is a GetActiveContractsRequest.
type Active struct {
	// Offset is never negative.
	Offset int64
	// Token is that of the last element read, "" for the beginning.
	Token  string
	Format *EventFormat
}

// ActivePage is a GetActiveContractsPageRequest.
type ActivePage struct {
	// Offset is nil for the end of the stream at the time.
	Offset *int64
	// MaxPageSize is 0 when the server may choose, and never negative.
	MaxPageSize int64
	// Token is that of the page before, "" for the first page.
	Token  string
	Format *EventFormat
}

// ContractEvents asks for the events of a contract.
type ContractEvents struct {
	ContractID string
	Format     *EventFormat
}

// Form is how an operation takes what is asked of it.
type Form byte

const (
	// Formats are updateFormat, or filter and verbose in its place.
	Formats Form = iota
	// Trees are filter and verbose alone, for transactions as trees.
	Trees
)

// ParseUpdates decodes and checks a GetUpdatesRequest in the form of its operation. Names in filters
// must be known. Errors are *Invalid or *Undecodable; whether offsets are within the stream is left
// to the caller.
func ParseUpdates(body []byte, known *Known, form Form) (*Updates, error) {
	q, p, old := &Updates{}, newFormats(known), legacyMembers{}
	var begin *int64
	err := read(body, members{
		"beginExclusive": optional(&begin), "endInclusive": optional(&q.End), "descendingOrder": flag(&q.Descending),
		"updateFormat": p.updateFormat(&q.Format), "filter": p.transactionFilter(&old.filter), "verbose": old.readVerbose,
	})
	switch {
	case err != nil:
		return nil, err
	case begin == nil:
		return nil, undecodable("beginExclusive is required")
	}
	q.Begin = *begin
	if q.Format, err = old.updateFormat(q.Format, form); err != nil {
		return nil, err
	}
	if err := checkRange(q.Begin, q.End); err != nil {
		return nil, err
	}
	if q.End == nil && q.Descending {
		return nil, invalid("descending_order needs end_inclusive")
	}
	return q, nil
}

// ParseUpdatesPage decodes and checks a GetUpdatesPageRequest, with errors as ParseUpdates.
func ParseUpdatesPage(body []byte, known *Known) (*UpdatesPage, error) {
	q, p := &UpdatesPage{}, newFormats(known)
	err := read(body, members{
		"beginOffsetExclusive": number(&q.Begin), "endOffsetInclusive": optional(&q.End), "descendingOrder": flag(&q.Descending),
		"maxPageSize": pageSize(&q.MaxPageSize), "pageToken": text(&q.Token), "updateFormat": p.updateFormat(&q.Format),
	})
	switch {
	case err != nil:
		return nil, err
	case q.Format == nil:
		return nil, missing("update_format")
	}
	return q, checkRange(q.Begin, q.End)
}

// ParseUpdateByID decodes and checks the request for an update by id, with errors as
// ParseUpdates.
func ParseUpdateByID(body []byte, known *Known) (*OneUpdate, error) {
	q, p := &OneUpdate{}, newFormats(known)
	err := read(body, members{"updateId": text(&q.ID), "updateFormat": p.updateFormat(&q.Format)})
	if err == nil {
		err = checkID("update_id", q.ID)
	}
	if err == nil && q.Format == nil {
		err = missing("update_format")
	}
	return q, err
}

// ParseUpdateByOffset decodes and checks the request for an update by offset, with errors
// as ParseUpdates.
func ParseUpdateByOffset(body []byte, known *Known) (*OneUpdate, error) {
	q, p := &OneUpdate{}, newFormats(known)
	var offset *int64
	err := read(body, members{"offset": optional(&offset), "updateFormat": p.updateFormat(&q.Format)})
	if err == nil {
		err = q.setOffset(offset)
	}
	if err == nil && q.Format == nil {
		err = missing("update_format")
	}
	return q, err
}

// ParseActive decodes and checks a GetActiveContractsRequest, whose filter and verbose may
// stand in place of eventFormat. Errors are as of ParseUpdates.
func ParseActive(body []byte, known *Known) (*Active, error) {
	q, p, old := &Active{}, newFormats(known), legacyMembers{}
	var offset *int64
	err := read(body, members{
		"activeAtOffset": optional(&offset), "streamContinuationToken": text(&q.Token),
		"eventFormat": p.eventFormat(&q.Format), "filter": p.transactionFilter(&old.filter), "verbose": old.readVerbose,
	})
	switch {
	case err != nil:
		return nil, err
	case offset == nil:
		return nil, undecodable("activeAtOffset is required")
	case *offset < 0:
		return nil, invalid("active_at_offset %d is negative", *offset)
	}
	q.Offset = *offset
	q.Format, err = old.eventFormat(q.Format)
	return q, err
}

// ParseActivePage decodes and checks a GetActiveContractsPageRequest, with errors as
// ParseUpdates.
func ParseActivePage(body []byte, known *Known) (*ActivePage, error) {
	q, p := &ActivePage{}, newFormats(known)
	err := read(body, members{
		"activeAtOffset": optional(&q.Offset), "maxPageSize": pageSize(&q.MaxPageSize), "pageToken": text(&q.Token),
		"eventFormat": p.eventFormat(&q.Format),
	})
	switch {
	case err != nil:
		return nil, err
	case q.Format == nil:
		return nil, missing("event_format")
	case q.Offset != nil && *q.Offset < 0:
		return nil, invalid("active_at_offset %d is negative", *q.Offset)
	}
	return q, nil
}

// ParseContractEvents decodes and checks the request for the events of a contract, with
// errors as ParseUpdates.
func ParseContractEvents(body []byte, known *Known) (*ContractEvents, error) {
	q, p := &ContractEvents{}, newFormats(known)
	err := read(body, members{"contractId": text(&q.ContractID), "eventFormat": p.eventFormat(&q.Format)})
	if err == nil {
		err = checkID("contract_id", q.ContractID)
	}
	if err == nil && q.Format == nil {
		err = missing("event_format")
	}
	return q, err
}

// maxID is the length of the longest id of an update or contract that is looked for:
// contract ids may have more than 1,000 characters.
const maxID = 4096

func checkID(member, id string) error {
	switch {
	case id == "":
		return missing(member)
	case len(id) > maxID:
		return invalid("%s is longer than %d bytes", member, maxID)
	}
	return nil
}

func newFormats(known *Known) *formats { return &formats{known: known, built: map[string]*filters{}} }

// legacyMembers are the members from before there were formats.
type legacyMembers struct {
	filter *EventFormat
	// verbose is nil when the request does not have it.
	verbose *bool
}

func (m *legacyMembers) readVerbose(r *reader, at string) {
	verbose := r.bool(at)
	m.verbose = &verbose
}

// given reports whether the members say anything. That values need no labels says nothing: clients
// send it beside formats.
func (m *legacyMembers) given() bool { return m.filter != nil || m.verbose != nil && *m.verbose }

// updateFormat returns the format of a request: its own, or what its filter stands for.
func (m *legacyMembers) updateFormat(own *UpdateFormat, form Form) (*UpdateFormat, error) {
	switch {
	case own != nil && m.given():
		return nil, invalid("both filter/verbose and update_format are specified")
	case own != nil && form == Trees:
		return nil, invalid("this operation takes filter and verbose, not update_format")
	case own != nil:
		return own, nil
	case m.filter == nil:
		return nil, invalid("either filter/verbose or update_format is required")
	}
	m.filter.Verbose = m.verbose != nil && *m.verbose
	if form == Trees {
		return &UpdateFormat{transactions: m.filter, reassignments: m.filter, shape: tree}, nil
	}
	topology := &topologyFormat{parties: map[string]bool{}} // those that the filter names
	for party := range m.filter.byParty {
		topology.parties[party] = true
	}
	return &UpdateFormat{transactions: m.filter, reassignments: m.filter, topology: topology}, nil
}

// eventFormat is the same for active contracts.
func (m *legacyMembers) eventFormat(own *EventFormat) (*EventFormat, error) {
	switch {
	case own != nil && m.given():
		return nil, invalid("both filter/verbose and event_format are specified")
	case own != nil:
		return own, nil
	case m.filter == nil:
		return nil, invalid("either filter/verbose or event_format is required")
	}
	m.filter.Verbose = m.verbose != nil && *m.verbose
	return m.filter, nil
}

// checkRange checks what can be said of offsets without knowing the stream.
func checkRange(begin int64, end *int64) error {
	switch {
	case begin < 0:
		return invalid("begin_exclusive %d is negative", begin)
	case end != nil && *end < begin:
		return invalid("end_inclusive %d is before begin_exclusive %d", *end, begin)
	}
	return nil
}
