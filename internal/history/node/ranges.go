package node

import "github.com/ledgerlake/ledgerlake/internal/store"

// end is where a reading of the whole range arrives.
func (rg Range) end() int64 {
	if rg.Descending {
		return rg.After
	}
	return rg.Through
}

// start is where a reading of the range begins.
func (rg Range) start() int64 {
	if rg.Descending {
		return rg.Through
	}
	return rg.After
}

// window cuts off the next width offsets of what is left of the range.
func (rg Range) window(width int64) (w, rest Range) {
	w, rest = rg, rg
	if rg.Descending {
		w.After = max(rg.After, rg.Through-width)
		rest.Through = w.After
	} else {
		w.Through = min(rg.Through, rg.After+width)
		rest.After = w.Through
	}
	return w, rest
}

// cursorBehind is Covered of a page that ends with the update at an offset.
func cursorBehind(offset int64, rg Range) int64 {
	if rg.Descending {
		return offset - 1
	}
	return offset
}

// between are the parameters of a query between two offsets of a stream.
func between(stream string, after, through int64) store.Params {
	return store.Params{"stream": store.Text(stream), "after": store.Int(after), "through": store.Int(through)}
}
