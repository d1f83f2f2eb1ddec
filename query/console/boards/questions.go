package boards

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/docs/analytics"
	"github.com/ledgerlake/ledgerlake/internal/history/answers"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// Limits of answers: rows of a page and of a file, memory, and how long an answer is given again.
const (
	shownRows   = 200
	fileRows    = 10_000
	answerBytes = 16 << 20
	keptAnswers = 32
	answerFresh = 5 * time.Second
)

// maxValue is the longest value of a parameter.
const maxValue = 400

// valuePrefix begins the names of parameters of questions in addresses, which have others of their own.
const valuePrefix = "p_"

// groupView is the questions of those who ask.
type groupView struct {
	title     string
	questions []analytics.Question
}

// questionView is a question with its answer.
type questionView struct {
	question analytics.Question
	inputs   []input
	// problem says why there is no answer; unasked that parameters are missing.
	problem string
	unasked bool
	answer  answers.Answer
	file    string
}

// input is a parameter in the form.
type input struct{ name, kind, meaning, value string }

// library shows all questions.
func (b *Boards) library(_ context.Context, v *page.View) (page.Page, error) {
	questions, err := analytics.Questions()
	if err != nil {
		return page.Page{}, err
	}
	var groups []groupView
	for _, name := range analytics.Groups {
		g := groupView{title: name}
		for _, q := range questions {
			if q.Group == name {
				g.questions = append(g.questions, q)
			}
		}
		groups = append(groups, g)
	}
	return page.Page{Title: "Questions", Section: page.Analytics, Body: library(v, groups)}, nil
}

// questionOf is the question that a path names.
func questionOf(v *page.View) (q analytics.Question, err error) {
	name, err := v.Path("name")
	if err != nil {
		return q, err
	}
	questions, err := analytics.Questions()
	if err != nil {
		return q, err
	}
	i := slices.IndexFunc(questions, func(q analytics.Question) bool { return q.Name == name })
	if i < 0 {
		return q, query.Errorf(query.NotFound, "The library has no question %.40q: see the list of all.", name)
	}
	return questions[i], nil
}

// question shows a question, its statements, and its answer on this store.
func (b *Boards) question(ctx context.Context, v *page.View) (page.Page, error) {
	q, err := questionOf(v)
	if err != nil {
		return page.Page{}, err
	}
	made := page.Page{Title: q.Title, Section: page.Analytics}
	view := questionView{question: q, inputs: inputsOf(v, &q)}
	values, missing := valuesOf(v, &q)
	if view.unasked = missing != ""; !view.unasked {
		view.file = "/questions/" + q.Name + "/answer.csv?" + addressOf(&q, values)
		view.answer, err = b.answer(ctx, v, &q, values, shownRows)
	}
	var e *query.Error
	if errors.As(err, &e) && e.Code == query.Invalid {
		view.problem, made.Code = e.Msg, http.StatusBadRequest
	} else if err != nil {
		return page.Page{}, err
	}
	made.Body = question(v, view)
	return made, nil
}

// inputsOf are the parameters with what was given for them.
func inputsOf(v *page.View, q *analytics.Question) (list []input) {
	for _, p := range q.Parameters {
		value := v.Param(valuePrefix + p.Name)
		if value == "" {
			value = p.Default
		}
		list = append(list, input{name: valuePrefix + p.Name, kind: kindOf(p.Type), meaning: p.Meaning, value: value})
	}
	return list
}

// kindOf is the kind of input for a type.
func kindOf(of string) string {
	switch {
	case of == "Date":
		return "date"
	case strings.HasPrefix(of, "UInt"):
		return "number"
	}
	return "text"
}

// valuesOf are the values of all parameters; missing is one without any.
func valuesOf(v *page.View, q *analytics.Question) (values map[string]string, missing string) {
	given := make(map[string]string)
	for _, p := range q.Parameters {
		value := v.Param(valuePrefix + p.Name)
		if value == "" && p.Default == "" {
			missing = p.Name
		}
		if value != "" {
			given[p.Name] = value
		}
	}
	if missing != "" {
		return nil, missing
	}
	values, err := q.Values(given)
	if err != nil { // a parameter is missing
		return nil, err.Error()
	}
	return values, ""
}

// addressOf has the values as a query string.
func addressOf(q *analytics.Question, values map[string]string) string {
	p := url.Values{}
	for name, value := range values {
		p.Set(valuePrefix+name, value)
	}
	return p.Encode()
}

// answer asks a question, unless it was asked just now.
func (b *Boards) answer(ctx context.Context, v *page.View, q *analytics.Question, values map[string]string, most int) (answers.Answer, error) {
	for name, value := range values {
		if len(value) > maxValue {
			return answers.Answer{}, query.Errorf(query.Invalid, "The value of %s is longer than %d bytes.", name, maxValue)
		}
	}
	key := fmt.Sprint(most, " ", q.Name, "?", addressOf(q, values))
	if kept, ok := b.answers.Get(key); ok {
		return kept, nil
	}
	ctx, err := v.Reserve(ctx, answerBytes)
	if err != nil {
		return answers.Answer{}, err
	}
	asked := time.Now()
	found, err := b.cfg.Answers.Ask(ctx, strings.TrimSpace(q.ClickHouse), values, most)
	switch {
	case errors.Is(err, answers.ErrParameter):
		return found, &query.Error{Code: query.Invalid, Msg: "A value is not of the type of its parameter: " + typesOf(q) + ".", Err: err}
	case errors.Is(err, answers.ErrTooExpensive):
		return found, &query.Error{Code: query.Invalid, Msg: "The answer takes more time or memory than a page may: ask for a shorter time, or run the statement with ledgerlake sql.", Err: err}
	case err == nil && most == shownRows:
		b.answers.Put(key, found, asked)
	}
	return found, err
}

// typesOf names the types of the parameters of a question.
func typesOf(q *analytics.Question) string {
	var list []string
	for _, p := range q.Parameters {
		list = append(list, p.Name+" is a "+p.Type)
	}
	return strings.Join(list, ", ")
}

// file serves the answer to a question as CSV.
func (b *Boards) file(ctx context.Context, v *page.View) error {
	q, err := questionOf(v)
	if err != nil {
		return err
	}
	values, missing := valuesOf(v, &q)
	if missing != "" {
		return query.Errorf(query.Invalid, "Parameter %s%s has no value.", valuePrefix, missing)
	}
	answer, err := b.answer(ctx, v, &q, values, fileRows)
	if err != nil {
		return err
	}
	if answer.More {
		return query.Errorf(query.Invalid, "The answer has more than %d rows: ask for less, or run the statement with ledgerlake sql.", fileRows)
	}
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	names := make([]string, len(answer.Columns))
	for i, c := range answer.Columns {
		names[i] = c.Name
	}
	if err := errors.Join(w.Write(names), w.WriteAll(answer.Rows)); err != nil {
		return fmt.Errorf("writing the answer to %s: %w", q.Name, err)
	}
	v.SetHeader("Content-Disposition", `attachment; filename="`+q.Name+`.csv"`)
	v.SetHeader("Cache-Control", "no-store")
	return v.Content("text/csv; charset=utf-8", text.Bytes())
}
