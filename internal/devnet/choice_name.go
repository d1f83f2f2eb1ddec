package devnet

import "regexp"

var (
	// validName is what names of the name service look like.
	validName = regexp.MustCompile(`^[a-z0-9_-]{1,60}\.unverified\.cns$`)
)

const (
	maxNameURL         = 255
	maxNameDescription = 140
)

func addNameChoices(all *choices) {
	all.on(ansRulesTemplate, "AnsRules_RequestEntry", nonconsuming(byArgument("user"), requestByCommand))
	all.on(ansEntryTemplate, "AnsEntry_Expire", consuming(byArgument("actor"),
		func(e *execution, c *contract, arg argument) (value, error) {
			p, actor := c.payload.(ansEntry), arg.party("actor")
			switch {
			case actor != p.user && actor != dso:
				return value{}, broken("%s is no party to the name", e.names.name(actor))
			case p.expiresAt > e.now():
				return value{}, broken("the name expires at %s only", microsText(p.expiresAt))
			}
			return e.tx.arena().record(emptyRecordShape), nil
		}))
	all.on(ansEntryContextTemplate, "AnsEntryContext_Terminate", consuming(byArgument("actor"), endContext))
}

func requestByCommand(e *execution, _ *contract, arg argument) (value, error) {
	n := nameRequest{user: arg.party("user"), validator: e.names.validatorOf(arg.party("user")), name: arg.text("name"),
		url: arg.text("url"), description: arg.text("description")}
	switch {
	case !validName.MatchString(n.name):
		return value{}, broken("name %.100q is not of the form NAME.unverified.cns", n.name)
	case len(n.url) > maxNameURL || len(n.description) > maxNameDescription:
		return value{}, broken("the url has more than %d bytes or the description more than %d", maxNameURL, maxNameDescription)
	}
	request, err := e.add(subscriptionRequestTemplate, subscriptionRequest{nameSubscription(n, e.ans.entryLifetime())})
	if err != nil {
		return value{}, err
	}
	entry, err := e.add(ansEntryContextTemplate, ansEntryContext{n, request.number})
	if err != nil {
		return value{}, err
	}
	return e.tx.arena().record(requestEntryDoneShape, contractID(entry.number), contractID(request.number)), nil
}

// endContext archives what joined a name with a subscription that has ended.
func endContext(e *execution, c *contract, arg argument) (value, error) {
	p, actor := c.payload.(ansEntryContext), arg.party("actor")
	ended, err := e.fetchOf(terminatedTemplate, arg.contract("terminatedSubscriptionCid"))
	switch {
	case err != nil:
		return value{}, err
	case actor != p.user && actor != dso:
		return value{}, broken("%s is no party to the name", e.names.name(actor))
	case referenceOf(ended) != p.reference:
		return value{}, broken("the subscription that has ended is another one")
	}
	e.tx.archive(ended)
	return e.tx.arena().record(emptyRecordShape), nil
}
