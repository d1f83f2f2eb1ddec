package browser

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// Fill types a value into the field of a form, in place of what is there. form is the path that the form is
// sent to.
func (t *Tab) Fill(form, field, value string) error {
	at := fmt.Sprintf("form[action=%q] [name=%q]", form, field)
	if _, err := Evaluate[bool](t, fmt.Sprintf("(field => { field.focus(); field.select(); })(document.querySelector(%q)), true", at)); err != nil {
		return err
	}
	_, err := chromedp.Call(t.ctx, input.InsertText, input.InsertTextParams{Text: value})
	if err != nil {
		return fmt.Errorf("filling in %s: %w", field, err)
	}
	return nil
}

// Submit clicks the button of a form as often as clicks says, without a pause, and waits for the page that
// follows.
func (t *Tab) Submit(form string, clicks int) (*Visit, error) {
	v, err := t.follow(fmt.Sprintf("document.querySelector('form[action=%q] button')", form), clicks)
	if err != nil {
		return nil, fmt.Errorf("sending the form %s: %w", form, err)
	}
	return v, nil
}

// Click clicks the first link with a text in the main part of a page, and waits for the page that follows.
func (t *Tab) Click(link string) (*Visit, error) {
	v, err := t.follow(fmt.Sprintf("[...document.querySelectorAll('main a')].find(link => link.textContent.trim() === %q)", link), 1)
	if err != nil {
		return nil, fmt.Errorf("following the link %s: %w", link, err)
	}
	return v, nil
}

// point is a place of the window.
type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// follow clicks on an element, which an expression finds, and waits for the page that follows.
func (t *Tab) follow(element string, clicks int) (*Visit, error) {
	at, err := Evaluate[point](t, fmt.Sprintf(`(element => {
		element.scrollIntoView({ block: "center", inline: "center" });
		const box = element.getBoundingClientRect();
		return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
	})(%s)`, element))
	if err != nil {
		return nil, err
	}
	t.notes.reset()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	for n := range clicks {
		for _, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseReleased} {
			event := input.DispatchMouseEventParams{Type: kind, X: at.X, Y: at.Y, Button: input.MouseButtonLeft, ClickCount: int64(n + 1)}
			if _, err := chromedp.Call(ctx, input.DispatchMouseEvent, event); err != nil {
				return nil, fmt.Errorf("clicking: %w", err)
			}
		}
	}
	if err := t.notes.wait(ctx, func() bool { return t.notes.landed }); err != nil {
		return nil, fmt.Errorf("waiting for the page that follows: %w; still loading: %s", err, t.notes.pending())
	}
	return t.arrived()
}
