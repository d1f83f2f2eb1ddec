package view

import (
	"errors"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// extras are the members of schemas.LocalEvent.Extras, each as it came: canonical JSON,
// nil when absent.
type extras struct {
	blob, contractKey, contractKeyHash, representativePackageID []byte
	implementedInterfaces, interfaceViews                       []byte
	// Members of an event that is not where it first was.
	offset, nodeID []byte
	// Members of reassignments.
	reassignmentID, reassignmentCounter, submitter, exclusivity, source, target []byte
	// around are further members that stood around the event, an object.
	around []byte
	// other are the members that have no place here, with a comma before each.
	other []byte
}

var errExtras = errors.New("its extras are damaged")

// read reads the extras of an event.
func (x *extras) read(text []byte) error {
	*x = extras{other: x.other[:0]}
	if len(text) == 0 {
		return nil
	}
	c := jsonscan.NewCursor(text)
	for m := c.Members(); m.Next(); {
		value := c.Raw()
		if place := x.place(m.Key()); place != nil {
			*place = value
			continue
		}
		x.other = append(appendText(append(x.other, ','), m.Key()), ':')
		x.other = append(x.other, value...)
	}
	if c.End(); c.Failed() {
		return errExtras
	}
	return nil
}

// place returns where a member belongs, nil for one without a place.
func (x *extras) place(key string) *[]byte {
	switch key {
	case "createdEventBlob":
		return &x.blob
	case "contractKey":
		return &x.contractKey
	case "contractKeyHash":
		return &x.contractKeyHash
	case "representativePackageId":
		return &x.representativePackageID
	case "implementedInterfaces":
		return &x.implementedInterfaces
	case "interfaceViews":
		return &x.interfaceViews
	case "offset":
		return &x.offset
	case "nodeId":
		return &x.nodeID
	case "reassignmentId":
		return &x.reassignmentID
	case "reassignmentCounter":
		return &x.reassignmentCounter
	case "submitter":
		return &x.submitter
	case "assignmentExclusivity":
		return &x.exclusivity
	case "source":
		return &x.source
	case "target":
		return &x.target
	case "reassignment", "entry":
		return &x.around
	}
	return nil
}

// appendRaw appends a member that is JSON already, with a comma before it, unless there is
// none. key comes with quotes and colon.
func appendRaw(dst []byte, key string, value []byte) []byte {
	if value == nil {
		return dst
	}
	return append(append(append(dst, ','), key...), value...)
}
