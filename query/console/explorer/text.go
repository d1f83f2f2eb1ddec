package explorer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// numbers are ids of views, one after the other.
func numbers(ids []int64) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(texts, ", ")
}

// envelopeText says what each of several envelopes cost.
func envelopeText(list []envelope) string {
	if len(list) < 2 {
		return ""
	}
	texts := make([]string, 0, len(list))
	for _, e := range list[:min(len(list), 20)] {
		texts = append(texts, fmt.Sprintf("%s for view %s", page.Grouped(strconv.FormatInt(e.Cost, 10)), numbers(e.Views)))
	}
	return ": " + strings.Join(texts, "; ")
}

// why says in words why holdings moved.
func why(cause, class, purpose string) string {
	text := cause
	if class != "" {
		text += " (" + words(class) + ")"
	}
	if purpose != "" && purpose != cause {
		text += " for " + words(purpose)
	}
	return text
}

// words makes words of a name such as app_payment.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// eventName is the choice of a node.
func eventName(view *updateView, node int32) string {
	if view.item.Update != nil {
		for i := range view.item.Update.Events {
			if e := &view.item.Update.Events[i]; e.Node == node {
				if e.Kind == schemas.Created {
					return "creates " + page.Entity(e.TemplateID)
				}
				return e.Choice
			}
		}
	}
	return strconv.Itoa(int(node))
}
