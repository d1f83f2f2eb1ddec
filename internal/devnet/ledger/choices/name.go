package choices

import (
	"regexp"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

var (
	// validName is what names of the name service look like.
	validName = regexp.MustCompile(`^[a-z0-9_-]{1,60}\.unverified\.cns$`)
)

const (
	maxNameURL         = 255
	maxNameDescription = 140
)

func addNameChoices(all *choices) {
	all.on(model.AnsRulesTemplate, "AnsRules_RequestEntry", nonconsuming(byArgument("user"), requestByCommand))
	all.on(model.AnsEntryTemplate, "AnsEntry_Expire", consuming(byArgument("actor"),
		func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
			p, actor := c.Payload.(model.AnsEntry), arg.Party("actor")
			require(actor == p.User || actor == model.Dso, "%s is not a party to the name", e.Names.Name(actor))
			require(p.ExpiresAt <= e.Now(), "the name does not expire until %s", microsText(p.ExpiresAt))
			return e.Tx.Arena().Record(model.EmptyRecordShape)
		}))
	all.on(model.AnsEntryContextTemplate, "AnsEntryContext_Terminate", consuming(byArgument("actor"), endContext))
}

func requestByCommand(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
	n := model.NameRequest{User: arg.Party("user"), Validator: e.Names.ValidatorOf(arg.Party("user")), Name: arg.Text("name"),
		Url: arg.Text("url"), Description: arg.Text("description")}
	require(validName.MatchString(n.Name), "name %.100q is not of the form NAME.unverified.cns", n.Name)
	require(len(n.Url) <= maxNameURL && len(n.Description) <= maxNameDescription, "the url has more than %d bytes or the description more than %d", maxNameURL, maxNameDescription)
	request := e.add(model.SubscriptionRequestTemplate, model.SubscriptionRequest{Subscription: model.NameSubscription(n, e.Ans.EntryLifetime())})
	entry := e.add(model.AnsEntryContextTemplate, model.AnsEntryContext{NameRequest: n, Reference: request.Number})
	return e.Tx.Arena().Record(sim.RequestEntryDoneShape, model.ContractID(entry.Number), model.ContractID(request.Number))
}

// endContext archives what joined a name with a subscription that has ended.
func endContext(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p, actor := c.Payload.(model.AnsEntryContext), arg.Party("actor")
	ended := e.fetchOf(model.TerminatedTemplate, arg.Contract("terminatedSubscriptionCid"))
	require(actor == p.User || actor == model.Dso, "%s is not a party to the name", e.Names.Name(actor))
	require(model.ReferenceOf(ended) == p.Reference, "another subscription has ended, not that of the name")
	e.Tx.Archive(ended)
	return e.Tx.Arena().Record(model.EmptyRecordShape)
}
