// Package answers runs statements of the library of questions, whose columns are not known before, within bounds: they
// read, and a server gives them so much time and memory.
package answers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

// Errors of a question.
var (
	ErrTooExpensive = errors.New("the question takes too much time or memory")
	ErrParameter    = errors.New("the value of a parameter is not of its type")
)

// Limits of the engine for a question.
const (
	maxTime   = 5 * time.Second
	maxMemory = 1 << 30
)

// Answer is what a question returns, as texts.
type Answer struct {
	Columns []Column
	Rows    [][]string
	// More says that there are more rows.
	More bool
}

// Column is one of an answer.
type Column struct{ Name, Type string }

// Reader answers questions. It is safe for concurrent use.
type Reader struct{ db *store.DB }

// NewReader returns a reader of a store.
func NewReader(db *store.DB) *Reader { return &Reader{db} }

// Ask runs a statement of the product's own with values for its parameters, for at most so many rows. Values are bound:
// none becomes a part of the statement.
func (r *Reader) Ask(ctx context.Context, statement string, values map[string]string, most int) (Answer, error) {
	params := make(store.Params, len(values))
	for name, value := range values {
		params[name] = store.Text(value)
	}
	columns, err := r.db.Described(ctx, statement, params, maxTime, maxMemory)
	if err != nil {
		return Answer{}, explained(err)
	}
	var answer Answer
	block, selected, err := texts(columns)
	if err != nil {
		return Answer{}, err
	}
	for _, c := range columns {
		answer.Columns = append(answer.Columns, Column{c.Name, c.Type})
	}
	query := fmt.Sprintf("SELECT %s FROM (\n%s\n) LIMIT %d", selected, statement, most+1)
	err = r.db.SelectAsked(ctx, query, params, maxTime, maxMemory, block, func() error {
		for row := range block.Rows() {
			answer.Rows = append(answer.Rows, rowOf(block, row, len(columns)))
		}
		return nil
	})
	if err != nil {
		return Answer{}, explained(err)
	}
	if answer.More = len(answer.Rows) > most; answer.More {
		answer.Rows = answer.Rows[:most]
	}
	return answer, nil
}

// texts selects columns of any types as texts.
func texts(columns []store.TableColumn) (block *store.Columns, selected string, err error) {
	var of []store.TableColumn
	var list []string
	for i, c := range columns {
		name := fmt.Sprint("c", i)
		of = append(of, store.TableColumn{Table: "answer", Name: name, Type: "String"})
		list = append(list, "CAST(ifNull(toString("+quoted(c.Name)+"), '') AS String) AS "+name)
	}
	block, err = store.NewColumns(of)
	return block, strings.Join(list, ", "), err
}

var escaper = strings.NewReplacer("\\", "\\\\", "`", "\\`")

// quoted is a name as a statement has it.
func quoted(name string) string { return "`" + escaper.Replace(name) + "`" }

func rowOf(block *store.Columns, row, columns int) []string {
	values := make([]string, columns)
	for i := range values {
		values[i] = block.Value(i, row).(string)
	}
	return values
}

// explained is an error of the server as callers tell it apart.
func explained(err error) error {
	switch {
	case store.IsOverBudget(err):
		return fmt.Errorf("%w: %w", ErrTooExpensive, err)
	case store.IsBadParameter(err):
		return fmt.Errorf("%w: %w", ErrParameter, err)
	}
	return fmt.Errorf("asking a question: %w", err)
}
