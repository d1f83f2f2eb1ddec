package wallet

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// templateVersion distinguishes the versions of a template.
type templateVersion struct{ packageName, templateID string }

// contractSet is how the contracts of wallets change in one range.
type contractSet struct {
	known map[templateVersion]*templateFields
	rows  []store.WalletContract // ends, and begins that no end has cancelled
	begun map[string][]int       // contract id -> indexes of the rows by which it is active
	ended int                    // contracts that were active before the range
	// payloads are those of contracts of the range, and of earlier ones that were looked up.
	payloads map[string][]byte
}

func (w *Wallets) newSet() *contractSet {
	return &contractSet{known: w.known, begun: make(map[string][]int), payloads: make(map[string][]byte)}
}

// update adds an update, or a contract that the stream began with.
func (s *contractSet) update(u *schemas.Update) {
	for i := range u.Events {
		e := &u.Events[i]
		if e.Local == nil || !e.Local.ACSDelta {
			continue
		}
		template := s.template(e)
		switch {
		case template == nil:
		case e.Kind == schemas.Created:
			s.begin(u, e, template)
		case e.Consuming || e.Kind == schemas.Unassigned:
			s.end(u, e)
		}
	}
}

// template is nil for one that wallets do not work with.
func (s *contractSet) template(e *schemas.Event) *templateFields {
	version := templateVersion{e.PackageName, e.TemplateID}
	template, known := s.known[version]
	if !known {
		if t, ok := templates[values.Network(schemas.TemplateName(e.PackageName, e.TemplateID))]; ok {
			template = &t
		}
		s.known[version] = template
	}
	return template
}

// begin adds a row for each stakeholder on the node that the contract is kept for.
func (s *contractSet) begin(u *schemas.Update, e *schemas.Event, template *templateFields) {
	row := store.WalletContract{
		ContractRow: store.ContractRow{Event: *e, CreatedIn: u.UpdateID},
		Template:    values.Network(schemas.TemplateName(e.PackageName, e.TemplateID)), SynchronizerID: u.SynchronizerID,
		Offset: u.Local.Offset, Blob: jsonscan.Value(e.Local.Extras).At("createdEventBlob").Text(),
	}
	if u.IsImport() {
		row.CreatedIn = ""
	}
	row.Event.Argument, row.Encoding = compactArgument(e.Argument, u.Encoding, e.PackageName, e.TemplateID)
	row.WalletTerms = template.terms(row.Event.Argument)
	s.payloads[e.ContractID] = row.Event.Argument
	for _, row.Party = range e.Local.Witnesses {
		if (slices.Contains(e.Signatories, row.Party) || slices.Contains(e.Observers, row.Party)) && template.keptFor(row.Party, &row.WalletTerms) {
			s.begun[e.ContractID] = append(s.begun[e.ContractID], len(s.rows))
			s.rows = append(s.rows, row)
		}
	}
}

// end cancels the rows of a contract that began in the range, as none is ever shown, and else
// adds a row for each party on the node that may have one.
func (s *contractSet) end(u *schemas.Update, e *schemas.Event) {
	if rows, ok := s.begun[e.ContractID]; ok {
		for _, i := range rows {
			s.rows[i].Party = ""
		}
		delete(s.begun, e.ContractID)
		return
	}
	s.ended++
	template := values.Network(schemas.TemplateName(e.PackageName, e.TemplateID))
	for _, party := range e.Local.Witnesses {
		s.rows = append(s.rows, store.WalletContract{
			ContractRow: store.ContractRow{Event: schemas.Event{ContractID: e.ContractID}}, Party: party, Template: template,
			Offset: u.Local.Offset, Ended: true, WalletTerms: store.WalletTerms{Round: -1},
		})
	}
}

// payload is that of a contract, nil if it is not known.
func (s *contractSet) payload(contractID string) []byte { return s.payloads[contractID] }

// write adds the rows to a block and returns how many contracts ended that were active before.
func (s *contractSet) write(stream string, block *store.WalletContracts) (ended int) {
	for i := range s.rows {
		if s.rows[i].Party != "" {
			block.Append(stream, &s.rows[i])
		}
	}
	return s.ended
}
