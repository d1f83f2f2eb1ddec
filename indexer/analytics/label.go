package analytics

import (
	"crypto/md5"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Kinds of values that are not written as they are stored; see schemas/migrations/0220_labels.sql.
const (
	instantHole = 1 << 16
	dateHole    = 2 << 16
	emptyHole   = 1
)

// label fills in what the shape of a row becomes with the labels of a catalogue. Whatever has no labels stays
// empty. The text is converted once, with a stand-in for each value, which is found again in the outcome.
func label(catalog *values.Catalog, l *store.Label) {
	shape := store.NewShape(l.Shape)
	places := shape.Places()
	sum := md5.Sum(shape.ObjectsShape())
	l.ObjectsShape = hex.EncodeToString(sum[:8])
	argument := catalog.Template(l.PackageName, l.TemplateID)
	if l.Choice != "" {
		argument = catalog.ChoiceArgument(l.PackageName, l.TemplateID, l.InterfaceID, l.Choice)
	}
	l.Argument, l.ArgumentHoles, l.ObjectsArgumentHoles = fillIn(l, shape.Argument(), within(l.Shape, places, 1), argument)
	l.Result, l.ResultHoles, l.ObjectsResultHoles = nil, nil, nil
	if l.Choice != "" {
		result := catalog.ChoiceResult(l.PackageName, l.TemplateID, l.InterfaceID, l.Choice)
		l.Result, l.ResultHoles, l.ObjectsResultHoles = fillIn(l, shape.Result(), within(l.Shape, places, 2), result)
	}
	l.Catalog = catalog.Fingerprint()
}

// within are the places of a line of a shape, which count from its start.
func within(shape string, places []store.Place, line int) (list []store.Place) {
	start := 0
	for range line {
		start += strings.IndexByte(shape[start:], '\n') + 1
	}
	end := len(shape)
	if n := strings.IndexByte(shape[start:], '\n'); n >= 0 {
		end = start + n
	}
	for _, p := range places {
		if p.At >= start && p.At < end {
			p.At -= start
			list = append(list, p)
		}
	}
	return list
}

// standIn takes the place of a value: text in what is converted, and found, between quotes, in the outcome.
type standIn struct {
	store.Place
	text, found string
	kind        uint32
}

// fillIn converts a text with stand-ins to the pieces around them, and tells which value goes behind each
// piece, in the store and in published objects.
func fillIn(l *store.Label, text string, places []store.Place, t *values.Type) (pieces []string, held, objects []uint32) {
	filled := make([]byte, 0, len(text)+10*len(places))
	standIns := make(map[string]standIn, len(places))
	done := 0
	for i, p := range places {
		s := standInFor(text[:p.At], p, i)
		if n := slices.Index(l.Structure, p.Held); n >= 0 {
			s = standIn{text: l.Constructors[n]}
		} else {
			standIns[s.found] = s
		}
		filled = append(append(filled, text[done:p.At]...), s.text...)
		done = p.At + 1
	}
	filled = append(filled, text[done:]...)
	labelled, err := values.AppendCompact(nil, filled, t)
	if err != nil {
		return nil, nil, nil // without labels, as the store has it
	}
	return cut(string(labelled), standIns)
}

// standInFor makes value number i of a text up to it, of a kind that what is before it names. Texts are in
// ascending order, as the keys of text maps are.
func standInFor(before string, p store.Place, i int) standIn {
	number := strconv.Itoa(70_000_000 + i)
	switch {
	case strings.HasSuffix(before, `"timestamp":"`):
		at := time.UnixMicro(int64(1_000_000_000_000_001 + 2*i)).UTC() // odd, so that all its digits are written
		return standIn{p, strconv.FormatInt(at.UnixMicro(), 10), at.Format("2006-01-02T15:04:05.000000Z"), instantHole}
	case strings.HasSuffix(before, `"date":`):
		return standIn{p, strconv.Itoa(i), time.Unix(int64(i)*86_400, 0).UTC().Format(time.DateOnly), dateHole}
	case strings.HasSuffix(before, `"int64":"`):
		return standIn{p, number, number, 0}
	case strings.HasSuffix(before, `"numeric":"`):
		number += ".0000000000"
		return standIn{p, number, number, 0}
	}
	return standIn{p, "@" + number, "@" + number, 0}
}

// cut splits a labelled text at its stand-ins, which are whole strings in it; no string in it has an escape.
// A stand-in that is not there belongs to what has no place in this form.
func cut(text string, standIns map[string]standIn) (pieces []string, held, objects []uint32) {
	done, at := 0, 0
	for {
		quote := strings.IndexByte(text[at:], '"')
		if quote < 0 {
			return append(pieces, text[done:]), append(held, emptyHole), append(objects, emptyHole)
		}
		start := at + quote + 1
		end := start + strings.IndexByte(text[start:], '"')
		if end < start {
			return nil, nil, nil // a label with an escaped quote, which is none of the language
		}
		if s, ok := standIns[text[start:end]]; ok {
			pieces, held, objects = append(pieces, text[done:start]), append(held, s.Held+s.kind), append(objects, s.Object+s.kind)
			done = end
		}
		at = end + 1
	}
}

// structure are the places of values on which labels depend: labels that are values, and constructors of
// variants that hold records, whose fields they decide on.
func structure(shape string) (list []store.Place) {
	if !strings.Contains(shape, `"variant":`) && !strings.Contains(shape, `"label":`) {
		return nil
	}
	for _, p := range store.NewShape(shape).Places() {
		before := shape[:p.At]
		if strings.HasSuffix(before, `"label":"`) || strings.HasSuffix(before, `"variant":{"constructor":"`) && strings.Contains(rest(shape[p.At:]), `"record":`) {
			list = append(list, p)
		}
	}
	return list
}

// rest is what is left of the object in which a text begins.
func rest(text string) string {
	depth := 1
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return text[:i]
			}
		}
	}
	return text
}
