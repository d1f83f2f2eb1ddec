package console_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ledgerlake/ledgerlake/internal/browser"
)

// Everything begins within reach of the keyboard.
func TestKeyboard(t *testing.T) {
	s := onStage(t)
	tab := open(t, s)
	if err := tab.Look(desk); err != nil {
		t.Fatal(err)
	}
	if _, err := tab.Visit(s.url + "/"); err != nil {
		t.Fatal(err)
	}
	focused := func(want string) {
		t.Helper()
		got, err := browser.Evaluate[string](tab, `document.activeElement.id || document.activeElement.className || document.activeElement.localName`)
		if err != nil || got != want {
			t.Errorf("the focus is on %q, %v, want %q", got, err, want)
		}
	}
	press := func(keys string, options ...chromedp.KeyOption) {
		t.Helper()
		if err := tab.Press(keys, options...); err != nil {
			t.Fatal(err)
		}
	}
	press("\t")
	focused("skip")
	if seen, err := browser.Evaluate[bool](tab, `document.activeElement.getBoundingClientRect().left >= 0`); err != nil || !seen {
		t.Errorf("the link that skips the navigation is not seen: %v", err)
	}
	press("\r")
	focused("main")
	press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	focused("search")
	press("/")
	if typed, err := browser.Evaluate[string](tab, `document.activeElement.value`); err != nil || typed != "/" {
		t.Errorf("in the search box / writes %q, %v", typed, err)
	}
}
