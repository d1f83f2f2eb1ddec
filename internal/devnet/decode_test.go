package devnet

import (
	"encoding/json"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// The functions here decode what the network serves in canonical form several times as fast as
// encoding/json, which reads each nested text once per level. They return false for all else.

// elementsOf returns the elements of a list, or of the list that is the only member of an object.
func elementsOf(raw []byte, key string) (list []json.RawMessage, ok bool) {
	c := jsonscan.NewCursor(raw)
	if key == "" {
		list = elementsAt(&c)
	} else {
		for m := c.Members(); m.Next(); {
			if m.Key() != key {
				return nil, false
			}
			list = elementsAt(&c)
		}
	}
	c.End()
	return list, !c.Failed()
}

func elementsAt(c *jsonscan.Cursor) (list []json.RawMessage) {
	list = []json.RawMessage{}
	for l := c.List(); l.Next(); {
		list = append(list, c.Raw())
	}
	return list
}

// onlyMember returns the member of an object that has one.
func onlyMember(raw []byte) (key string, value json.RawMessage, ok bool) {
	c, members := jsonscan.NewCursor(raw), 0
	for m := c.Members(); m.Next(); members++ {
		key, value = m.Key(), c.Raw()
	}
	c.End()
	return key, value, members == 1 && !c.Failed()
}

func textsAt(c *jsonscan.Cursor) (list []string) {
	list = []string{}
	for l := c.List(); l.Next(); {
		list = append(list, c.Text())
	}
	return list
}

func (it *item) decode(raw []byte) bool {
	c := jsonscan.NewCursor(raw)
	for m := c.Members(); m.Next(); {
		switch m.Key() {
		case "update_id":
			it.UpdateID = c.Text()
		case "migration_id":
			it.MigrationID = c.Int()
		case "record_time":
			it.RecordTime = c.Text()
		case "synchronizer_id":
			it.SynchronizerID = c.Text()
		case "offset":
			it.Offset = c.Text()
		case "root_event_ids":
			it.RootEventIDs = textsAt(&c)
		case "events_by_id":
			it.EventsByID = map[string]json.RawMessage{}
			for e := c.Members(); e.Next(); {
				it.EventsByID[e.Key()] = c.Raw()
			}
		case "event":
			it.Event = c.Raw()
		default:
			c.Raw()
		}
	}
	c.End()
	return !c.Failed()
}

func (e *event) decode(raw []byte) bool {
	c := jsonscan.NewCursor(raw)
	for m := c.Members(); m.Next(); {
		switch m.Key() {
		case "event_type":
			e.EventType = c.Text()
		case "event_id":
			e.EventID = c.Text()
		case "contract_id":
			e.ContractID = c.Text()
		case "template_id":
			e.TemplateID = c.Text()
		case "package_name":
			e.PackageName = c.Text()
		case "create_arguments":
			e.CreateArguments = c.Raw()
		case "created_at":
			e.CreatedAt = c.Text()
		case "signatories":
			e.Signatories = textsAt(&c)
		case "observers":
			e.Observers = textsAt(&c)
		case "choice":
			e.Choice = c.Text()
		case "choice_argument":
			e.Argument = c.Raw()
		case "exercise_result":
			e.Result = c.Raw()
		case "consuming":
			e.Consuming = c.Bool()
		case "acting_parties":
			e.ActingParties = textsAt(&c)
		case "child_event_ids":
			e.ChildEventIDs = textsAt(&c)
		case "migration_id":
			e.MigrationID = c.Int()
		case "source_synchronizer":
			e.Source = c.Text()
		case "target_synchronizer":
			e.Target = c.Text()
		case "unassign_id":
			e.UnassignID = c.Text()
		case "reassignment_counter":
			e.Counter = c.Int()
		case "created_event":
			e.CreatedEvent = c.Raw()
		default:
			c.Raw()
		}
	}
	c.End()
	return !c.Failed()
}

func (e *eventItem) decode(raw []byte) bool {
	c := jsonscan.NewCursor(raw)
	for m := c.Members(); m.Next(); {
		switch value := c.Raw(); m.Key() {
		case "update":
			e.Update = value
		case "verdict":
			e.Verdict = value
		case "traffic_summary":
			e.Traffic = value
		case "app_activity_records":
			e.AppActivity = value
		}
	}
	c.End()
	return !c.Failed()
}
