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
		func(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
			p, actor := c.Payload.(model.AnsEntry), arg.Party("actor")
			switch {
			case actor != p.User && actor != model.Dso:
				return model.Value{}, broken("%s is no party to the name", e.Names.Name(actor))
			case p.ExpiresAt > e.Now():
				return model.Value{}, broken("the name expires at %s only", microsText(p.ExpiresAt))
			}
			return e.Tx.Arena().Record(model.EmptyRecordShape), nil
		}))
	all.on(model.AnsEntryContextTemplate, "AnsEntryContext_Terminate", consuming(byArgument("actor"), endContext))
}

func requestByCommand(e *Execution, _ *model.Contract, arg model.Argument) (model.Value, error) {
	n := model.NameRequest{User: arg.Party("user"), Validator: e.Names.ValidatorOf(arg.Party("user")), Name: arg.Text("name"),
		Url: arg.Text("url"), Description: arg.Text("description")}
	switch {
	case !validName.MatchString(n.Name):
		return model.Value{}, broken("name %.100q is not of the form NAME.unverified.cns", n.Name)
	case len(n.Url) > maxNameURL || len(n.Description) > maxNameDescription:
		return model.Value{}, broken("the url has more than %d bytes or the description more than %d", maxNameURL, maxNameDescription)
	}
	request, err := e.add(model.SubscriptionRequestTemplate, model.SubscriptionRequest{Subscription: model.NameSubscription(n, e.ans.EntryLifetime())})
	if err != nil {
		return model.Value{}, err
	}
	entry, err := e.add(model.AnsEntryContextTemplate, model.AnsEntryContext{NameRequest: n, Reference: request.Number})
	if err != nil {
		return model.Value{}, err
	}
	return e.Tx.Arena().Record(sim.RequestEntryDoneShape, model.ContractID(entry.Number), model.ContractID(request.Number)), nil
}

// endContext archives what joined a name with a subscription that has ended.
func endContext(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	p, actor := c.Payload.(model.AnsEntryContext), arg.Party("actor")
	ended, err := e.fetchOf(model.TerminatedTemplate, arg.Contract("terminatedSubscriptionCid"))
	switch {
	case err != nil:
		return model.Value{}, err
	case actor != p.User && actor != model.Dso:
		return model.Value{}, broken("%s is no party to the name", e.Names.Name(actor))
	case model.ReferenceOf(ended) != p.Reference:
		return model.Value{}, broken("the subscription that has ended is another one")
	}
	e.Tx.Archive(ended)
	return e.Tx.Arena().Record(model.EmptyRecordShape), nil
}
