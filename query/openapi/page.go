package openapi

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

//go:embed page.html
var pageText string

var pages = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"prose": prose, "limits": limits, "isRequired": slices.Contains[[]string], "refName": refName,
	"curl": curl,
}).Parse(pageText))

// pageOperation is an operation with its place.
type pageOperation struct {
	operation
	Method, Path string
}

// group is the operations of a tag, in the order of the document.
type group struct {
	Name, Description string
	Operations        []pageOperation
}

// renderPage gives a document as a page.
func renderPage(d *document) ([]byte, error) {
	var groups []group
	for _, tag := range d.Tags {
		groups = append(groups, group{tag.Name, tag.Description, d.tagged(tag.Name)})
	}
	return render("document", struct {
		*document
		Groups []group
	}{d, groups})
}

func (d *document) tagged(tag string) (list []pageOperation) {
	for _, path := range d.Paths {
		for _, method := range path.Value {
			if slices.Contains(method.Value.Tags, tag) {
				list = append(list, pageOperation{method.Value, strings.ToUpper(method.Key), path.Key})
			}
		}
	}
	return list
}

// renderIndex gives the list of documents as a page.
func renderIndex(list []listed) ([]byte, error) { return render("index", list) }

func render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// prose gives text with empty lines between paragraphs and `code` as HTML.
func prose(text string) template.HTML {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		b.WriteString("<p>")
		for i, part := range strings.Split(paragraph, "`") {
			if escaped := template.HTMLEscapeString(part); i%2 == 1 {
				b.WriteString("<code>" + escaped + "</code>")
			} else {
				b.WriteString(escaped)
			}
		}
		b.WriteString("</p>")
	}
	return template.HTML(b.String()) // its parts are escaped above
}

// limits says in words what a schema demands beside its type.
func limits(s schema) (string, error) {
	var list []string
	say := func(format string, n *int64) {
		if n != nil {
			list = append(list, fmt.Sprintf(format, *n))
		}
	}
	say("at least %d", s.Minimum)
	say("at most %d", s.Maximum)
	say("at least %d elements", s.MinItems)
	say("at most %d elements", s.MaxItems)
	say("at least %d characters", s.MinLength)
	say("at most %d characters", s.MaxLength)
	say("at most %d members", s.MaxProperties)
	if len(s.Enum) > 0 {
		list = append(list, "one of "+strings.Join(s.Enum, ", "))
	}
	text, err := literal(s.Default)
	if text != "" {
		list = append(list, "default "+text)
	}
	if s.Pattern != "" {
		list = append(list, "matches "+s.Pattern)
	}
	return strings.Join(list, "; "), err
}

// literal gives an example or default as JSON, "" when there is none.
func literal(n yaml.Node) (string, error) {
	if n.IsZero() {
		return "", nil
	}
	text, err := appendNode(nil, &n)
	return string(text), err
}

// curl gives the request of an operation's examples as a command.
func curl(op pageOperation) (string, error) {
	target, err := exampleTarget(op)
	if err != nil || op.Method != "POST" {
		return `curl -s "$base` + target + `"`, err
	}
	body := "{}"
	if content, ok := op.RequestBody.Content.get("application/json"); ok {
		if body, err = literal(content.Example); err != nil {
			return "", err
		}
	}
	return `curl -s "$base` + target + `" -d '` + strings.ReplaceAll(body, "'", `'\''`) + "'", nil
}

// exampleTarget is the path and the query string of the examples.
func exampleTarget(op pageOperation) (string, error) {
	path, query := op.Path, url.Values{}
	for _, p := range op.Parameters {
		if p.Example.IsZero() {
			continue
		}
		values, err := exampleValues(p.Example)
		if err != nil {
			return "", err
		}
		switch p.In {
		case "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(values[0]))
		case "query":
			query[p.Name] = values
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path, nil
}

// exampleValues gives an example as the values of a parameter: a list has several.
func exampleValues(n yaml.Node) ([]string, error) {
	if n.Kind != yaml.SequenceNode {
		return []string{n.Value}, nil
	}
	var values []string
	err := n.Decode(&values)
	return values, err
}
