package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"slices"
	"strings"
	"testing"
)

var updateExamples = flag.Bool("update", false, "rewrite the outputs of examples that no longer fit")

// shownBytes is how long an output may be on a page, so that one fits on a few lines.
const shownBytes = 330

// changing are members whose values are others in each run.
var changing = []string{"next_page_token", "uptime", "ports", "version", "commit_ts", "nextPageToken", "correlationId", "traceId", "tid"}

// rewritten gives a page with outputs that fit, abbreviated, in place of those that do not.
func rewritten(text string, list []example, outputs []printed) string {
	lines := strings.Split(text, "\n")
	for i := len(list) - 1; i >= 0; i-- { // from the end, so that line numbers stay true
		e := list[i]
		if mismatch(outputs[i].output, e.output) == "" || e.outputLine == 0 {
			continue
		}
		var shown []string
		for line := range strings.SplitSeq(strings.Trim(outputs[i].output, "\n"), "\n") {
			shown = append(shown, abbreviated(line))
		}
		lines = slices.Replace(lines, e.outputLine-1, e.outputLine-1+strings.Count(e.output, "\n"), shown...)
	}
	return strings.Join(lines, "\n")
}

// abbreviated gives a line of output with as much left out of its JSON as is needed to
// make it short. Other lines stay as they are.
func abbreviated(line string) string {
	if !json.Valid([]byte(line)) || len(line) == 0 || !strings.ContainsAny(line[:1], "{[") {
		return line
	}
	shown := line
	for depth := 8; depth > 0; depth-- {
		for _, width := range []int{80, 24, 16} {
			if shown = outline([]byte(line), depth, width); len(shown) <= shownBytes {
				return shown
			}
		}
	}
	return shown
}

// outline gives a value with texts of at most width bytes and depth levels of members.
func outline(value json.RawMessage, depth, width int) string {
	value = bytes.TrimSpace(value)
	open, end := string(value[:1]), string(value[len(value)-1:])
	switch {
	case open == "\"" && len(value) > width+8:
		return strings.ToValidUTF8(string(value[:width]), "") + "...\""
	case open != "{" && open != "[" || len(value) == 2:
		return string(value)
	case depth == 0:
		return open + "..." + end
	}
	d := json.NewDecoder(bytes.NewReader(value))
	_, _ = d.Token() // the value is valid JSON: no step of the decoder fails
	var parts []string
	for d.More() {
		var key, member json.RawMessage
		name := ""
		if open == "{" {
			token, _ := d.Token()
			name = token.(string)
			key, _ = json.Marshal(name)
		}
		_ = d.Decode(&member)
		switch {
		case open == "[" && len(parts) == 1:
			return "[" + parts[0] + ",...]"
		case open == "[":
			parts = append(parts, outline(member, depth-1, width))
		case slices.Contains(changing, name):
			parts = append(parts, string(key)+":...")
		default:
			parts = append(parts, outline(key, 0, max(width, 32))+":"+outline(member, depth-1, width))
		}
	}
	return open + strings.Join(parts, ",") + end
}

func TestRewrittenExamplesFit(t *testing.T) {
	const text = "# A page\n\n```console\n$ a=1\n$ one\nold\nolder\n$ two\nkept ...\n$ three\n{}\n```\n\nThe end.\n"
	long := `{"a":[{"id":"` + strings.Repeat("x", 400) + `"},{"id":"y"}],"next_page_token":"abc","n":1.50}`
	outputs := []printed{{"", "0"}, {"new", "0"}, {"kept as it is", "0"}, {long, "0"}}
	list, err := examplesOf("page", text)
	if err != nil {
		t.Fatal(err)
	}
	got := rewritten(text, list, outputs)
	want := "# A page\n\n```console\n$ a=1\n$ one\nnew\n$ two\nkept ...\n$ three\n" +
		`{"a":[{"id":"` + strings.Repeat("x", 79) + `..."},...],"next_page_token":...,"n":1.50}` + "\n```\n\nThe end.\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if list, err = examplesOf("page", got); err != nil {
		t.Fatal(err)
	}
	for i, e := range list {
		if diff := mismatch(outputs[i].output, e.output); diff != "" {
			t.Errorf("%s: %s", e.command, diff)
		}
	}
}
