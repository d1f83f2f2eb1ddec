package view

import (
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// statusUnimplemented is the gRPC code of a view that nobody can compute here.
const statusUnimplemented = `12`

// appendImplemented appends the member implementedInterfaces, unless no view is asked for.
func appendImplemented(dst []byte, views []*iface) []byte {
	if len(views) == 0 {
		return dst
	}
	dst = append(dst, `,"implementedInterfaces":[`...)
	for i, v := range views {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(dst, v.id)
	}
	return append(dst, ']')
}

// appendViews appends the member interfaceViews: the requested views as the node gave them.
// A view that it did not tell can not be computed without the package: its status says so.
func appendViews(dst []byte, views []*iface, stored []byte) []byte {
	dst = append(dst, `,"interfaceViews":[`...)
	for i, v := range views {
		if i > 0 {
			dst = append(dst, ',')
		}
		if view := storedView(stored, v.entity); view != nil {
			dst = append(dst, view...)
			continue
		}
		dst = appendText(append(dst, `{"interfaceId":`...), v.id)
		dst = append(dst, `,"viewStatus":{"code":`+statusUnimplemented+`,"message":"the node did not return this view, and it is not computed here"}}`...)
	}
	return append(dst, ']')
}

// storedView finds the view of an interface among those that a node gave, nil if it is not
// there.
func storedView(stored []byte, entity string) []byte {
	if stored == nil {
		return nil
	}
	c := jsonscan.NewCursor(stored)
	for l := c.List(); l.Next(); {
		view := c.Raw()
		v := jsonscan.NewCursor(view)
		for m := v.Members(); m.Next(); {
			if m.Key() != "interfaceId" {
				v.Raw()
				continue
			}
			if entityOf(v.Text()) == entity && !v.Failed() {
				return view
			}
		}
	}
	return nil
}
