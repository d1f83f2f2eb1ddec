package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Answer is an answer with its body, which is decompressed.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// withoutOperation are the statuses of requests that belong to no operation, or that were
// refused before that was known.
var withoutOperation = map[int]string{
	http.StatusNotFound: "NotFound", http.StatusMethodNotAllowed: "MethodNotAllowed", http.StatusRequestTimeout: "SlowRequest",
	http.StatusRequestEntityTooLarge: "TooLarge", http.StatusRequestHeaderFieldsTooLarge: "HeaderTooLarge",
}

// Check checks a request and its answer against the document. body is that of the request,
// nil if it is not to be checked. A request is checked only if it succeeded: a refused one
// is wrong on purpose.
func (d *Document) Check(r *http.Request, body []byte, a Answer) error {
	m := d.find(r.Method, r.URL.EscapedPath())
	if m.op == nil || a.Status == http.StatusRequestTimeout || a.Status == http.StatusRequestHeaderFieldsTooLarge {
		return d.checkRefused(r, m, a)
	}
	spelled, op := d.spelledAt(m)
	if err := spelled.checkAnswer(op, r.Method == http.MethodHead, a); err != nil {
		return err
	}
	if a.Status >= 300 {
		return nil
	}
	d.mu.Lock()
	d.succeeded[m.op.String()] = true
	d.mu.Unlock()
	return d.checkRequest(m, r, body)
}

// checkRefused checks the answer to a request without an operation.
func (d *Document) checkRefused(r *http.Request, m match, a Answer) error {
	want, ok := withoutOperation[a.Status]
	if m.op == nil && m.known != (a.Status == http.StatusMethodNotAllowed) || !ok {
		return fmt.Errorf("status %d of a request that is no operation of the document", a.Status)
	}
	if r.Method == http.MethodHead {
		return nil
	}
	return d.checkBody(pointer("components", "responses", want), d.doc.Components.Responses[want].Value, a)
}

func (d *Document) checkAnswer(op *Operation, head bool, a Answer) error {
	status := strconv.Itoa(a.Status)
	ref := op.Responses.Value(status)
	if ref == nil {
		return fmt.Errorf("status %d is not documented for %s", a.Status, op)
	}
	for name, h := range ref.Value.Headers {
		if h.Value.Required && a.Header.Get(name) == "" {
			return fmt.Errorf("there is no header %s", name)
		}
	}
	if head {
		if len(a.Body) > 0 {
			return fmt.Errorf("the answer to HEAD has a body of %d bytes", len(a.Body))
		}
		return nil
	}
	at := op.pointer + pointer("responses", status)
	if ref.Ref != "" {
		at = strings.TrimPrefix(ref.Ref, "#")
	}
	return d.checkBody(at, ref.Value, a)
}

// checkBody checks media type and body; at is the place of the response in the document.
func (d *Document) checkBody(at string, response *openapi3.Response, a Answer) error {
	if len(response.Content) == 0 {
		if len(a.Body) > 0 {
			return fmt.Errorf("there is a body where none is documented: %s", excerpt(a.Body))
		}
		return nil
	}
	mediaType, params, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("content type %q: %w", a.Header.Get("Content-Type"), err)
	}
	content := response.Content[mediaType]
	if content == nil {
		return fmt.Errorf("media type %s is not documented", mediaType)
	}
	if lines, ok := content.Extensions["x-line-schema"].(string); ok {
		return d.checkLines(pointer("components", "schemas", lines), a.Body)
	}
	if mediaType != "application/json" {
		return nil
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return fmt.Errorf("charset %s", charset)
	}
	if !utf8.Valid(a.Body) {
		return fmt.Errorf("the body is not UTF-8: %q", excerpt(a.Body))
	}
	if err := d.answers.validate(at+pointer("content", mediaType, "schema"), a.Body); err != nil {
		return fmt.Errorf("%w\nin %s", err, excerpt(a.Body))
	}
	return nil
}

func (d *Document) checkLines(at string, body []byte) error {
	for i, line := range bytes.SplitAfter(body, []byte("\n")) {
		if len(line) == 0 {
			continue // behind the last one
		}
		if err := d.answers.validate(at, line); err != nil {
			return fmt.Errorf("line %d: %w\nin %s", i+1, err, excerpt(line))
		}
	}
	return nil
}

func excerpt(text []byte) string { return string(text[:min(len(text), 2000)]) }

// checkRequest checks a request that has succeeded against its operation, so that tests do not send
// what the document does not describe.
func (d *Document) checkRequest(m match, r *http.Request, body []byte) error {
	query := r.URL.Query()
	for i, ref := range m.op.Parameters {
		p := ref.Value
		values, err := paramValues(p, m, r, query)
		if err != nil {
			return err
		}
		if len(values) == 0 {
			if p.Required {
				return fmt.Errorf("parameter %s is required", p.Name)
			}
			continue
		}
		at := m.op.pointer + pointer("parameters", strconv.Itoa(i))
		if ref.Ref != "" {
			at = strings.TrimPrefix(ref.Ref, "#")
		}
		if err := d.requests.validateValue(at+"/schema", typed(p.Schema.Value, values)); err != nil {
			return fmt.Errorf("parameter %s of a request that succeeded: %w", p.Name, err)
		}
	}
	for name := range query {
		return fmt.Errorf("query parameter %s is not documented", name)
	}
	if m.op.RequestBody == nil || body == nil || !m.op.RequestBody.Value.Required && (len(body) == 0 || string(body) == "null") {
		return nil
	}
	at := m.op.pointer + pointer("requestBody", "content", "application/json", "schema")
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("body of a request that succeeded: %w", err)
	}
	if err := d.requests.validateValue(at, withoutNulls(value)); err != nil {
		return fmt.Errorf("body of a request that succeeded: %w\nin %s", err, excerpt(body))
	}
	return nil
}

// withoutNulls leaves out the members that are null, which count as absent.
func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if value[name] = withoutNulls(member); member == nil {
				delete(value, name)
			}
		}
	case []any:
		for i, element := range value {
			value[i] = withoutNulls(element)
		}
	}
	return value
}

// paramValues takes the values of a parameter, out of query too.
func paramValues(p *openapi3.Parameter, m match, r *http.Request, query url.Values) ([]string, error) {
	switch p.In {
	case "header":
		return r.Header.Values(p.Name), nil
	case "path":
		value, err := url.PathUnescape(m.values[p.Name])
		return []string{value}, err
	}
	var values []string
	for _, name := range spellings(p.Name, p.Extensions) {
		values = slices.Concat(values, query[name])
		delete(query, name)
	}
	return values, nil
}

// spellings are the names of a parameter or member.
func spellings(name string, extensions map[string]any) []string {
	names := []string{name}
	for _, key := range []string{"x-network-name", "x-neutral-name"} {
		if other, ok := extensions[key].(string); ok {
			names = append(names, other)
		}
	}
	return names
}

// typed gives the values of a parameter as JSON has them.
func typed(schema *openapi3.Schema, values []string) any {
	switch {
	case schema.Type.Is("array"):
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = typed(schema.Items.Value, []string{v})
		}
		return list
	case schema.Type.Is("integer"):
		if _, err := strconv.ParseInt(values[0], 10, 64); err == nil {
			return json.Number(values[0])
		}
	case schema.Type.Is("boolean"):
		if b, err := strconv.ParseBool(values[0]); err == nil {
			return b
		}
	}
	return values[0]
}
