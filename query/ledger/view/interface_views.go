package view

import (
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// The status of a view is a gRPC code and a message.
const (
	statusComputed = `{"code":0,"message":""}`
	// statusFailed begins that of a view which fails, as the code of its template would on a node.
	statusFailed = `{"code":9,"message":`
	// statusUnknown is of a view that nobody can compute here.
	statusUnknown = `{"code":12,"message":"the node did not return this view, and it is not computed here"}`
)

// appendImplemented appends the member implementedInterfaces, unless no view is asked for.
func appendImplemented(dst []byte, wanted []wantedView) []byte {
	if len(wanted) == 0 {
		return dst
	}
	dst = append(dst, `,"implementedInterfaces":[`...)
	for i, v := range wanted {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(dst, v.id)
	}
	return append(dst, ']')
}

// appendViews appends the member interfaceViews: the requested views of a contract with a create
// argument, of which a node may have given some.
func appendViews(dst []byte, wanted []wantedView, argument, given []byte) []byte {
	dst = append(dst, `,"interfaceViews":[`...)
	for i, v := range wanted {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = v.append(dst, argument, given)
	}
	return append(dst, ']')
}

// append appends the view as the node gave it, or else as it is computed. One that failed on the node
// may not fail here: the node may not have had the package then.
func (v *wantedView) append(dst, argument, given []byte) []byte {
	view, ok := givenView(given, v.entity)
	if ok {
		return append(dst, view...)
	}
	start := len(dst)
	dst = append(appendText(append(dst, `{"interfaceId":`...), v.id), `,"viewStatus":`...)
	var err error
	if v.compute != nil {
		var computed []byte
		if computed, err = v.compute(append(dst, statusComputed+`,"viewValue":`...), argument); err == nil {
			return append(computed, '}')
		}
	}
	switch {
	case view != nil:
		return append(dst[:start], view...)
	case err != nil:
		return append(appendText(append(dst, statusFailed...), err.Error()), `}}`...)
	}
	return append(append(dst, statusUnknown...), '}')
}

// givenView finds the view of an interface among those that a node gave, nil if it is not there; ok
// says that it did not fail.
func givenView(given []byte, entity string) (view jsonscan.Value, ok bool) {
	for _, view := range jsonscan.Value(given).Elements() {
		if entityOf(view.At("interfaceId").Text()) == entity {
			return view, string(view.At("viewStatus", "code")) == "0"
		}
	}
	return nil, false
}
