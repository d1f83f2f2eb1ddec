package browser

import (
	"fmt"
	"os"
	"strings"
)

// Axe is axe-core, which finds barriers to people who use a page by keyboard or screen reader, or see
// little.
type Axe struct{ script string }

// LoadAxe reads axe-core from a file.
func LoadAxe(path string) (*Axe, error) {
	script, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading axe-core (scripts/setup.sh browser installs it): %w", err)
	}
	return &Axe{string(script)}, nil
}

// violation is a rule that parts of a page break.
type violation struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		Target  []string `json:"target"`
		Summary string   `json:"failureSummary"`
		HTML    string   `json:"html"`
	} `json:"nodes"`
}

// shownNodes is how many parts of a page are named for each rule.
const shownNodes = 3

// Check returns what is wrong with the page of a tab, a line for each rule: nothing at best. If rules are
// named, only those are checked.
func (a *Axe) Check(t *Tab, rules ...string) ([]string, error) {
	if _, err := Evaluate[bool](t, "window.axe || (() => {"+a.script+"\n})(), true"); err != nil {
		return nil, err
	}
	options := "{resultTypes: ['violations']}"
	if len(rules) > 0 {
		options = "{resultTypes: ['violations'], runOnly: ['" + strings.Join(rules, "', '") + "']}"
	}
	found, err := Evaluate[[]violation](t, "axe.run(document, "+options+").then(found => found.violations)")
	if err != nil {
		return nil, err
	}
	var list []string
	for _, v := range found {
		line := fmt.Sprintf("axe %s: %s (%d times)", v.ID, v.Help, len(v.Nodes))
		for _, node := range v.Nodes[:min(shownNodes, len(v.Nodes))] {
			line += fmt.Sprintf("\n    %s %.160s\n      %s", strings.Join(node.Target, " "), node.HTML, strings.ReplaceAll(node.Summary, "\n", " "))
		}
		list = append(list, line)
	}
	return list, nil
}
