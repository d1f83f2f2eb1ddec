package node

// Formats of updates and events, as far as they are used here.

type updateFormat struct {
	Transactions transactionFormat `json:"includeTransactions"`
}

type transactionFormat struct {
	Events eventFormat `json:"eventFormat"`
	Shape  string      `json:"transactionShape"`
}

type eventFormat struct {
	ByParty map[string]filters `json:"filtersByParty"`
	Verbose bool               `json:"verbose"`
}

type filters struct {
	Cumulative []cumulative `json:"cumulative"`
}

type cumulative struct {
	Identifier identifierFilter `json:"identifierFilter"`
}

// identifierFilter has one member.
type identifierFilter struct {
	Wildcard *wildcardFilter `json:"WildcardFilter,omitempty"`
	Template *templateFilter `json:"TemplateFilter,omitempty"`
	// Interface filters by an interface, with its view.
	Interface *interfaceFilter `json:"InterfaceFilter,omitempty"`
}

type interfaceFilter struct {
	Value interfaceFilterValue `json:"value"`
}

type interfaceFilterValue struct {
	InterfaceID string `json:"interfaceId"`
	View        bool   `json:"includeInterfaceView"`
	Blob        bool   `json:"includeCreatedEventBlob"`
}

type wildcardFilter struct {
	Value struct {
		Blob bool `json:"includeCreatedEventBlob"`
	} `json:"value"`
}

type templateFilter struct {
	Value templateFilterValue `json:"value"`
}

type templateFilterValue struct {
	TemplateID string `json:"templateId"`
	Blob       bool   `json:"includeCreatedEventBlob"`
}

// treeFor asks for all that the parties see of a transaction.
func treeFor(parties []string) transactionFormat {
	byParty := make(map[string]filters, len(parties))
	for _, party := range parties {
		byParty[party] = filters{Cumulative: []cumulative{{identifierFilter{Wildcard: &wildcardFilter{}}}}}
	}
	return transactionFormat{Events: eventFormat{ByParty: byParty, Verbose: true}, Shape: "TRANSACTION_SHAPE_LEDGER_EFFECTS"}
}

// contractsOf asks for the contracts of a template in which a party has a stake.
func contractsOf(party, templateID string) eventFormat {
	return formatOf(party, identifierFilter{Template: &templateFilter{templateFilterValue{TemplateID: templateID, Blob: true}}})
}

// viewsOf asks for the contracts that implement an interface and in which a party has a stake.
func viewsOf(party, interfaceID string) eventFormat {
	return formatOf(party, identifierFilter{Interface: &interfaceFilter{interfaceFilterValue{InterfaceID: interfaceID, View: true, Blob: true}}})
}

func formatOf(party string, f identifierFilter) eventFormat {
	return eventFormat{ByParty: map[string]filters{party: {Cumulative: []cumulative{{f}}}}, Verbose: true}
}
