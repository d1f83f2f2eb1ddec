package node

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
)

// What an interface shows is asked for by a filter; an interface that the node does not know has no
// contracts, and any other refusal is an error.
func TestActiveViews(t *testing.T) {
	t.Parallel()
	m, url := newModel(t)
	c := newClient(t, url, nil)
	var asked string
	code, category := "", 0
	m.before = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if r.URL.Path != activeOperation {
			return false
		}
		if asked = string(body); code != "" {
			refuse(w, 404, code, category, nil)
			return true
		}
		m.answer(w, json.RawMessage(`[{"contractEntry":{"JsActiveContract":{"synchronizerId":"s","createdEvent":{"contractId":"00ab","interfaceViews":[
			{"interfaceId":"ab:M:I","viewStatus":{"code":0},"viewValue":{"k":"v"}}]}}}},{"contractEntry":{"JsEmpty":{}}}]`))
		return true
	}
	list, err := c.ActiveViews(t.Context(), "alice", "#p:M:I", 7)
	if err != nil || len(list) != 1 || len(list[0].Views) != 1 || string(list[0].Views[0].Value) != `{"k":"v"}` {
		t.Errorf("got %+v, %v", list, err)
	}
	if !strings.Contains(asked, `"InterfaceFilter":{"value":{"interfaceId":"#p:M:I","includeInterfaceView":true,"includeCreatedEventBlob":true}}`) {
		t.Errorf("asked for %s", asked)
	}
	code, category = "PACKAGE_NAMES_NOT_FOUND", 11
	if list, err := c.ActiveViews(t.Context(), "alice", "#p:M:I", 7); err != nil || len(list) != 0 {
		t.Errorf("of an interface that is not known: %+v, %v", list, err)
	}
	code, category = "PERMISSION_DENIED", 7
	var e *Error
	if _, err := c.ActiveViews(t.Context(), "alice", "#p:M:I", 7); !errors.As(err, &e) || e.Node.Code != code {
		t.Errorf("without rights: %v", err)
	}
}
