package faults

// numbered counts what happens and lets others wait for a number. Its owner locks it.
type numbered struct {
	count   int
	waiting map[int]chan struct{}
}

// next counts one more and returns its number, from 1 on.
func (n *numbered) next() int {
	n.count++
	if ch, ok := n.waiting[n.count]; ok {
		close(ch)
		delete(n.waiting, n.count)
	}
	return n.count
}

// reached returns a channel that is closed with number i, or now if that has come.
func (n *numbered) reached(i int) <-chan struct{} {
	ch, ok := n.waiting[i]
	switch {
	case ok:
		return ch
	case n.waiting == nil:
		n.waiting = make(map[int]chan struct{})
	}
	ch = make(chan struct{})
	if i <= n.count {
		close(ch)
		return ch
	}
	n.waiting[i] = ch
	return ch
}
