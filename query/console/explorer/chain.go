package explorer

import "github.com/ledgerlake/ledgerlake/schemas"

// family knows which event of an update is below which.
type family struct {
	update *schemas.Update
	events map[int32]*schemas.Event
	parent map[int32]int32
}

func familyOf(u *schemas.Update) family {
	f := family{u, make(map[int32]*schemas.Event, len(u.Events)), make(map[int32]int32, len(u.Events))}
	for i := range u.Events {
		e := &u.Events[i]
		f.events[e.Node] = e
		for _, child := range e.Children {
			f.parent[child] = e.Node
		}
	}
	return f
}

// above is the exercise that an event is directly below of, nil if there is none.
func (f *family) above(node int32) *schemas.Event {
	parent, ok := f.parent[node]
	if !ok {
		return nil
	}
	return f.events[parent]
}

// below collects contracts of the events below one, in order, that wanted lets through.
func (f *family) below(e *schemas.Event, wanted func(*schemas.Event) bool) (found []linkedContract) {
	for _, child := range e.Children {
		event := f.events[child]
		if event == nil || len(found) >= maxChain {
			continue
		}
		if wanted(event) {
			found = append(found, linked(event))
		}
		found = append(found, f.below(event, wanted)...)
	}
	return found[:min(len(found), maxChain)]
}

func linked(e *schemas.Event) linkedContract {
	return linkedContract{e.ContractID, schemas.TemplateName(e.PackageName, e.TemplateID)}
}

// madeBy is the choice that created a contract, with the contracts that it consumed.
func madeBy(u *schemas.Update, node int32) *chainPart {
	f := familyOf(u)
	by := f.above(node)
	if by == nil {
		return &chainPart{update: u.UpdateID}
	}
	consumed := func(e *schemas.Event) bool { return e.Kind == schemas.Exercised && e.Consuming }
	part := &chainPart{update: u.UpdateID, choice: by.Choice, on: schemas.TemplateName(by.PackageName, by.TemplateID), contracts: f.below(by, consumed)}
	if by.Consuming {
		part.contracts = append([]linkedContract{linked(by)}, part.contracts...)
	}
	return part
}

// becameOf is the choice that ended a contract, with the contracts that it created. A contract that is archived
// by another choice became what that created.
func becameOf(u *schemas.Update, node int32, id string) *chainPart {
	f := familyOf(u)
	end := f.events[node]
	if end == nil {
		return nil
	}
	created := func(e *schemas.Event) bool { return e.Kind == schemas.Created && e.ContractID != id }
	by, contracts := end, f.below(end, created)
	if up := f.above(node); len(contracts) == 0 && up != nil {
		by, contracts = up, f.below(up, created)
	}
	return &chainPart{update: u.UpdateID, choice: by.Choice, on: schemas.TemplateName(by.PackageName, by.TemplateID), contracts: sameFirst(contracts, schemas.TemplateName(end.PackageName, end.TemplateID))}
}

// sameFirst puts the contracts of a template first.
func sameFirst(list []linkedContract, name string) []linkedContract {
	sorted := make([]linkedContract, 0, len(list))
	for _, same := range []bool{true, false} {
		for _, c := range list {
			if (c.template == name) == same {
				sorted = append(sorted, c)
			}
		}
	}
	return sorted
}
