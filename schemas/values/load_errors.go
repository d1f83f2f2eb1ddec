package values

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// problems are all that is wrong with catalogue files, in one line.
type problems []error

// Error names the first few.
func (p problems) Error() string {
	const shown = 10
	var texts []string
	for _, err := range p[:min(len(p), shown)] {
		texts = append(texts, err.Error())
	}
	if more := len(p) - shown; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

func (p problems) Unwrap() []error { return p }

// allOf returns the errors that err was joined from, whatever depth they are at.
func allOf(err error) problems {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return problems{err}
	}
	var all problems
	for _, err := range list.Unwrap() {
		all = append(all, allOf(err)...)
	}
	return all
}

// wrap says where an error is, if it is one, or each of several that were joined.
func wrap(err error, what, name string) error {
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		var errs []error
		for _, err := range list.Unwrap() {
			errs = append(errs, wrap(err, what, name))
		}
		return errors.Join(errs...)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s%s: %w", what, name, err)
}

// joinSorted joins errors, whose order is by chance, in the order of their texts.
func joinSorted(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}
