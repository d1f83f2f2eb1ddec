package faults

import (
	"bytes"
	"slices"
)

// skip leaves the subject out.
func skip(l *Liar, p *page) bool {
	i := p.find(l.subject.UpdateID)
	if i < 0 {
		return false
	}
	p.items = slices.Delete(p.items, i, i+1)
	return true
}

func double(l *Liar, p *page) bool {
	i := p.find(l.subject.UpdateID)
	if i < 0 {
		return false
	}
	p.items = slices.Insert(p.items, i, p.items[i])
	return true
}

func doubleChanged(l *Liar, p *page) bool {
	i := p.find(l.subject.UpdateID)
	if i < 0 {
		return false
	}
	changed, ok := changeAny(l.rand(), p.items[i].raw)
	if !ok {
		return false
	}
	second := p.items[i]
	second.raw = changed
	p.items = slices.Insert(p.items, i+1, second)
	return true
}

// invent lets a copy with another update id follow the subject at once, also at the
// beginning of the page that begins behind the subject.
func invent(l *Liar, p *page) bool {
	at := p.find(l.subject.UpdateID) + 1
	if at == 0 && (p.imports || p.after != l.subject.RecordTime) {
		return false
	}
	id := []byte(l.subject.UpdateID)
	other := replaceByte(id, len(id)-1, nextHex)
	copied, ok := changeTime(nil, bytes.ReplaceAll(l.subject.item, id, other))
	if !ok {
		return false
	}
	p.items = slices.Insert(p.items, at, item{raw: copied})
	return true
}

// swap lets the subject and the item behind it, or before it at a page's end, change
// places.
func swap(l *Liar, p *page) bool {
	i := p.find(l.subject.UpdateID)
	if i < 0 || len(p.items) < 2 {
		return false
	}
	j := i + 1
	if j == len(p.items) {
		j = i - 1
	}
	p.items[i], p.items[j] = p.items[j], p.items[i]
	return true
}

// cutTail leaves out the subject and what stands behind it.
func cutTail(l *Liar, p *page) bool {
	if p.imports {
		return false
	}
	n := slices.IndexFunc(p.items, func(it item) bool { return !it.before(l.subject) })
	if n < 0 {
		return false
	}
	p.items = p.items[:n]
	return true
}

// emptyEarly gives nothing where the cursor stands at the subject or behind it.
func emptyEarly(l *Liar, p *page) bool {
	if p.imports || p.after < l.subject.RecordTime || len(p.items) == 0 {
		return false
	}
	p.items = nil
	return true
}

// cutBody ends the answer in the middle of the subject.
func cutBody(l *Liar, p *page) bool {
	i := p.find(l.subject.UpdateID)
	if i < 0 {
		return false
	}
	p.cut = true
	p.items = slices.Clone(p.items[:i+1])
	p.items[i].raw = p.items[i].raw[:len(p.items[i].raw)/2]
	return true
}
