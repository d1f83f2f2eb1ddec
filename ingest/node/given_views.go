package node

import (
	"bytes"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// Members of events that a node gives for interfaces only whose views it is asked for.
const (
	viewsMember       = "interfaceViews"
	implementedMember = "implementedInterfaces"
)

var (
	anyViews       = []byte(`"` + viewsMember + `":[`)
	anyImplemented = []byte(`"` + implementedMember + `":[`)

	someViews       = append(anyViews, '{')
	someImplemented = append(anyImplemented, '"')
)

// saysOfInterfaces reports whether extras of an event have one of the members.
func saysOfInterfaces(extras []byte) bool {
	return bytes.Contains(extras, anyViews) || bytes.Contains(extras, anyImplemented)
}

// dropComputed leaves out of an event what it says of interfaces whose views readers compute.
func (d *decoder) dropComputed(e *schemas.Event, l *schemas.LocalEvent) {
	if d.computed == nil || !bytes.Contains(l.Extras, someViews) && !bytes.Contains(l.Extras, someImplemented) {
		return
	}
	extras := appendExtras(nil, l.Extras, func(interfaceID string) bool {
		return !d.computed(e.PackageName, e.TemplateID, entityOf(interfaceID))
	}, false)
	l.Extras = d.in.byteSlab.copyOf(extras)
}

// entityOf returns Module:Entity of PACKAGE:Module:Entity.
func entityOf(id string) string {
	_, entity, _ := strings.Cut(id, ":")
	return entity
}

// appendExtras appends extras of an event with those interfaces that are to be kept, canonical as
// before. Without any left, the members about interfaces are empty lists, or are left out.
func appendExtras(dst, extras []byte, keep func(interfaceID string) bool, leaveOut bool) []byte {
	dst = append(dst, '{')
	start := len(dst)
	jsonscan.Value(extras).EachMember(func(key string, value jsonscan.Value) bool {
		if key == viewsMember || key == implementedMember {
			value = keptInterfaces(value, keep)
			if leaveOut && len(value) == len("[]") {
				return true
			}
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(append(jsonscan.AppendString(dst, []byte(key)), ':'), value...)
		return true
	})
	if len(dst) == start {
		return nil
	}
	return append(dst, '}')
}

// keptInterfaces is a list of views or of interface ids without some interfaces.
func keptInterfaces(list jsonscan.Value, keep func(interfaceID string) bool) jsonscan.Value {
	kept := jsonscan.Value{'['}
	for _, element := range list.Elements() {
		if !keep(interfaceIn(element)) {
			continue
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(kept, element...)
	}
	return append(kept, ']')
}

// interfaceIn is the interface of a view or of an id.
func interfaceIn(element jsonscan.Value) string {
	if element.IsText() {
		return element.Text()
	}
	return element.At("interfaceId").Text()
}

// maxVariants is for how many interfaces all sets of them are tried, which is 2 to the power of it.
const maxVariants = 6

// asAnnounced has a batch that was read again say of interfaces what it said when it was announced.
// The process that announced it may have asked for views of fewer interfaces, or of none: the node had
// not the packages yet, or it was an earlier version. The hash tells of which. A batch that differs in
// anything else stays as it is.
func asAnnounced(hash string, b *schemas.Batch) {
	if hash == "" || store.HashBatch(b) == hash {
		return
	}
	given := interfacesOf(b)
	for set := range uint(1) << min(len(given), maxVariants) {
		keep := func(id string) bool { i := slices.Index(given, id); return i < maxVariants && set&(1<<i) != 0 }
		for _, leaveOut := range []bool{false, true} {
			other := *b
			other.Items = withInterfaces(b.Items, keep, leaveOut)
			if store.HashBatch(&other) == hash {
				b.Items = other.Items
				return
			}
		}
	}
}

// interfacesOf are the ids of the interfaces of which the events of a batch say something.
func interfacesOf(b *schemas.Batch) (ids []string) {
	for _, item := range b.Items {
		for _, e := range item.Update.Events {
			if e.Local == nil || !saysOfInterfaces(e.Local.Extras) {
				continue
			}
			extras := jsonscan.Value(e.Local.Extras)
			for _, element := range slices.Concat(extras.At(viewsMember).Elements(), extras.At(implementedMember).Elements()) {
				if id := interfaceIn(element); !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// withInterfaces are items with some interfaces alone, see appendExtras.
func withInterfaces(items []schemas.Item, keep func(interfaceID string) bool, leaveOut bool) []schemas.Item {
	items = slices.Clone(items)
	for i := range items {
		u := *items[i].Update
		u.Events = slices.Clone(u.Events)
		for j := range u.Events {
			if l := u.Events[j].Local; l != nil && saysOfInterfaces(l.Extras) {
				local := *l
				local.Extras = appendExtras(nil, l.Extras, keep, leaveOut)
				u.Events[j].Local = &local
			}
		}
		items[i].Update = &u
	}
	return items
}
