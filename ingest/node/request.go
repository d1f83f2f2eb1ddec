package node

// updatesRequest is the GetUpdatesRequest of the ledger JSON API.
type updatesRequest struct {
	BeginExclusive int64         `json:"beginExclusive"`
	EndInclusive   *int64        `json:"endInclusive,omitempty"`
	UpdateFormat   *updateFormat `json:"updateFormat"`
}

// updatesPageRequest is the GetUpdatesPageRequest.
type updatesPageRequest struct {
	Begin        int64         `json:"beginOffsetExclusive"`
	End          int64         `json:"endOffsetInclusive"`
	PageSize     int           `json:"maxPageSize"`
	UpdateFormat *updateFormat `json:"updateFormat"`
	PageToken    string        `json:"pageToken,omitempty"`
}

type updateFormat struct {
	Transactions  transactionFormat `json:"includeTransactions"`
	Reassignments eventFormat       `json:"includeReassignments"`
	Topology      topologyFormat    `json:"includeTopologyEvents"`
}

type transactionFormat struct {
	Events eventFormat `json:"eventFormat"`
	Shape  string      `json:"transactionShape"`
}

type topologyFormat struct {
	Authorizations struct {
		Parties []string `json:"parties"`
	} `json:"includeParticipantAuthorizationEvents"`
}

// eventFormat has exactly one of its filters.
type eventFormat struct {
	ByParty  map[string]filters `json:"filtersByParty,omitempty"`
	AnyParty *filters           `json:"filtersForAnyParty,omitempty"`
	Verbose  bool               `json:"verbose"`
}

type filters struct {
	Cumulative []cumulativeFilter `json:"cumulative"`
}

// cumulativeFilter has exactly one of its filters.
type cumulativeFilter struct {
	Identifier struct {
		Wildcard  *wildcardFilter  `json:"WildcardFilter,omitempty"`
		Interface *interfaceFilter `json:"InterfaceFilter,omitempty"`
	} `json:"identifierFilter"`
}

type wildcardFilter struct {
	Value struct {
		Blob bool `json:"includeCreatedEventBlob"`
	} `json:"value"`
}

type interfaceFilter struct {
	Value struct {
		ID   string `json:"interfaceId"`
		View bool   `json:"includeInterfaceView"`
		Blob bool   `json:"includeCreatedEventBlob"`
	} `json:"value"`
}

// activeRequest is the GetActiveContractsRequest, and that of its pages.
type activeRequest struct {
	ActiveAtOffset int64       `json:"activeAtOffset"`
	EventFormat    eventFormat `json:"eventFormat"`
	Continuation   string      `json:"streamContinuationToken,omitempty"`
	PageSize       int         `json:"maxPageSize,omitempty"`
	PageToken      string      `json:"pageToken,omitempty"`
}

// eventFormat asks for all contracts of the configured parties, or of all, and for what the interfaces
// that the node knows show of them.
func (c *Config) eventFormat() eventFormat {
	var all cumulativeFilter
	all.Identifier.Wildcard = &wildcardFilter{}
	all.Identifier.Wildcard.Value.Blob = true // which others need to use a contract that they do not see
	wildcard := filters{Cumulative: []cumulativeFilter{all}}
	if c.interfaces != nil {
		for _, name := range c.interfaces.asked {
			wildcard.Cumulative = append(wildcard.Cumulative, viewFilter(name))
		}
	}
	format := eventFormat{Verbose: true} // labels the fields of records
	if len(c.Parties) == 0 {
		format.AnyParty = &wildcard
		return format
	}
	format.ByParty = make(map[string]filters, len(c.Parties))
	for _, party := range c.Parties {
		format.ByParty[party] = wildcard
	}
	return format
}

// updatesAfter asks for the updates with offsets in (after, through], or for all that
// come if through is 0.
func (c *Config) updatesAfter(after, through int64) updatesRequest {
	return c.updatesOf(c.eventFormat(), after, through)
}

// updatesOf is updatesAfter for a format of one's own.
func (c *Config) updatesOf(events eventFormat, after, through int64) updatesRequest {
	format := &updateFormat{
		Transactions:  transactionFormat{Events: events, Shape: "TRANSACTION_SHAPE_LEDGER_EFFECTS"},
		Reassignments: events,
	}
	format.Topology.Authorizations.Parties = append([]string{}, c.Parties...) // [] = all
	q := updatesRequest{BeginExclusive: after, UpdateFormat: format}
	if through > 0 {
		q.EndInclusive = &through
	}
	return q
}
