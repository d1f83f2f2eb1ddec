package schemas

import "fmt"

// CheckComplete returns an error that wraps ErrDamaged unless u has all the events that it
// must have. A transaction of public history is a tree whose nodes are numbered without a
// hole, so that its roots and children say how many events there are. Of a node's own stream,
// where numbers have holes, it is known only that each update but a topology change has one.
// What decodes updates refuses others: what is missing here, the store has lost.
func (u *Update) CheckComplete() error {
	switch {
	case u.Local != nil && (u.Kind == Topology || len(u.Events) > 0):
		return nil
	case u.Local != nil:
		return u.damaged("at least one event", "none")
	case u.Kind == Transaction:
		return u.checkNodes()
	case u.Kind != Assignment && u.Kind != Unassignment || u.Reassignment == nil:
		return fmt.Errorf("%w: update %s, %s, is of unknown kind %q", ErrDamaged, u.UpdateID, u.Position(), u.Kind)
	case u.Kind == Assignment && len(u.Events) != 1:
		return u.damaged("its created event", fmt.Sprintf("%d events", len(u.Events)))
	case u.Kind == Unassignment && len(u.Events) != 0:
		return u.damaged("no events", fmt.Sprint(len(u.Events)))
	}
	return nil
}

// checkNodes: the first event that is missing is a root, or a child of one that stands before
// it and is there.
func (u *Update) checkNodes() error {
	want := len(u.RootEvents)
	for i := range u.Events {
		e := &u.Events[i]
		if int(e.Node) != i {
			return u.damaged(fmt.Sprintf("node %d", i), fmt.Sprintf("node %d", e.Node))
		}
		want += len(e.Children)
	}
	if want != len(u.Events) {
		return u.damaged(fmt.Sprintf("%d events", want), fmt.Sprint(len(u.Events)))
	}
	return nil
}

func (u *Update) damaged(want, got string) error {
	return fmt.Errorf("%w: update %s, %s, must have %s and has %s in table events", ErrDamaged, u.UpdateID, u.Position(), want, got)
}
