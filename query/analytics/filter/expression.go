package filter

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/parser"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Limits of an expression.
const (
	maxText  = 4096 // characters
	maxNodes = 4000 // with those of lists
	maxDepth = 50
	// maxLoops is how many times lists may be gone through.
	maxLoops = 2
)

var celParser = func() *parser.Parser {
	p, err := parser.NewParser(
		parser.MaxRecursionDepth(maxDepth), parser.ExpressionSizeCodePointLimit(maxText), parser.MaxExpressionNodeCount(maxNodes),
		parser.ErrorReportingLimit(1), parser.EnablePrattParser(true), parser.Macros(), // without macros: calls stay as they are written
	)
	if err != nil {
		panic(err) // the options are constants
	}
	return p
}()

// Filter is what rows are to be like: all of it holds for them. The zero Filter is for all rows.
type Filter struct {
	// Expression is one in the language of this package, "" for none.
	Expression  string
	Comparisons []Comparison
}

// Compile makes a condition of a filter about columns. now is what the name now stands for. The
// error is an *Error, which names the place of what is wrong.
func (f Filter) Compile(columns Columns, now time.Time) (Condition, error) {
	b := builder{columns: columns, params: store.Params{}, now: now}
	var texts []string
	for _, c := range f.Comparisons {
		t, err := b.comparison(c)
		if err != nil {
			return Condition{}, err
		}
		texts = append(texts, t.text)
	}
	if f.Expression != "" {
		t, err := b.expression(f.Expression)
		if err != nil {
			return Condition{}, err
		}
		texts = append(texts, t.text)
	}
	return Condition{strings.Join(texts, " AND "), b.params}, nil
}

func (b *builder) expression(expression string) (term, error) {
	if !utf8.ValidString(expression) {
		return term{}, invalid("a filter must be UTF-8")
	}
	tree, problems := celParser.Parse(common.NewTextSource(expression))
	if list := problems.GetErrors(); len(list) > 0 {
		text := strings.TrimSuffix(strings.TrimPrefix(list[0].Message, "Syntax error: "), ".")
		if place := list[0].Location.Column() + 1; place > 0 {
			text = fmt.Sprintf("%s, at character %d of the filter", text, place)
		}
		return term{}, invalid("%s", text)
	}
	c := &compiler{builder: b, source: []rune(expression), info: tree.SourceInfo()}
	return c.condition(tree.Expr())
}

// compiler makes terms of the nodes of an expression.
type compiler struct {
	*builder
	source []rune
	info   *ast.SourceInfo
	loops  int
	// variable is the name of the element of the list that is gone through, and element what it is.
	variable string
	element  term
}

// condition compiles a node that is true or false.
func (c *compiler) condition(e ast.Expr) (term, error) {
	t, err := c.term(e)
	switch {
	case err != nil:
		return t, err
	case t.kind != Truth || t.list || t.constant != nil:
		return t, c.at(e, invalid("this is no condition"))
	}
	if t.nullable {
		t = truth(t.text, true)
	}
	return t, nil
}

// at adds the place of a node to an error that has none.
func (c *compiler) at(e ast.Expr, err error) error {
	var wrong *Error
	place, ok := c.info.GetOffsetRange(e.ID())
	if err == nil || !ok || !errors.As(err, &wrong) || strings.Contains(wrong.text, " of the filter") {
		return err
	}
	return invalid("%s, at character %d of the filter", wrong.text, place.Start+1)
}

func (c *compiler) term(e ast.Expr) (t term, err error) {
	switch e.Kind() {
	case ast.LiteralKind:
		t, err = c.literal(e)
	case ast.IdentKind:
		t, err = c.name(e.AsIdent())
	case ast.ListKind:
		t.constant = &constant{text: "a list", items: []term{}}
		for _, item := range e.AsList().Elements() {
			value, err := c.term(item)
			if err != nil {
				return t, err
			}
			if value.constant == nil || value.constant.items != nil || value.constant.null {
				return t, c.at(item, invalid("a list has texts, numbers and instants alone"))
			}
			t.constant.items = append(t.constant.items, value)
		}
	case ast.CallKind:
		t, err = c.call(e.AsCall())
	default:
		err = invalid("filters have names of columns, comparisons, constants and a few functions alone")
	}
	return t, c.at(e, err)
}

var numberForm = regexp.MustCompile(`^-?\s*[0-9]*\.?[0-9]*([eE][-+]?[0-9]+)?`)

// number is one as it was written: a decimal has more digits than a float.
func (c *compiler) number(e ast.Expr) string {
	place, ok := c.info.GetOffsetRange(e.ID())
	if !ok {
		return ""
	}
	return strings.Join(strings.Fields(numberForm.FindString(string(c.source[place.Start:]))), "")
}

func (c *compiler) literal(e ast.Expr) (term, error) {
	switch value := e.AsLiteral().(type) {
	case types.String:
		return term{kind: Text, constant: &constant{text: string(value)}}, nil
	case types.Int:
		return term{kind: Integer, constant: &constant{text: store.Int(int64(value))}}, nil
	case types.Double:
		return term{kind: Number, constant: &constant{text: c.number(e)}}, nil
	case types.Bool:
		return term{kind: Truth, constant: &constant{text: strconv.FormatBool(bool(value))}}, nil
	case types.Null:
		return term{constant: &constant{text: "null", null: true}}, nil
	default:
		return term{}, invalid("%s is no value that a column can have", typeName(value))
	}
}

func typeName(v ref.Val) string { return "a constant of type " + v.Type().TypeName() }

func (c *compiler) name(name string) (term, error) {
	if c.variable != "" && name == c.variable {
		return c.element, nil
	}
	if _, ok := c.columns[name]; !ok && name == "now" {
		return instant(c.now), nil
	}
	column, err := c.columns.find(name)
	return columnTerm(column), err
}

func instant(at time.Time) term {
	return term{kind: Instant, constant: &constant{text: at.UTC().Format(time.RFC3339Nano)}}
}

// comparisons are the operators of expressions as the store spells them.
var comparisons = map[string]string{
	operators.Equals: "=", operators.NotEquals: "!=", operators.Less: "<", operators.LessEquals: "<=",
	operators.Greater: ">", operators.GreaterEquals: ">=",
}

func (c *compiler) call(call ast.CallExpr) (term, error) {
	name, args := call.FunctionName(), call.Args()
	if operator, ok := comparisons[name]; ok {
		left, right, err := c.two(args)
		if err != nil {
			return left, err
		}
		return c.compare(left, operator, right)
	}
	switch name {
	case operators.LogicalAnd:
		return c.joined(args, " AND ")
	case operators.LogicalOr:
		return c.joined(args, " OR ")
	case operators.LogicalNot:
		t, err := c.condition(args[0])
		return term{kind: Truth, text: "(NOT " + t.text + ")"}, err
	case operators.In:
		value, list, err := c.two(args)
		if err != nil {
			return value, err
		}
		return c.among(value, list)
	case operators.Add, operators.Subtract:
		return c.shifted(name, args)
	case operators.Negate:
		return c.negative(args[0])
	}
	return c.function(name, call, args)
}

// negative is a number with a sign that the parser did not take for a part of it.
func (c *compiler) negative(e ast.Expr) (term, error) {
	t, err := c.term(e)
	if err == nil && (t.constant == nil || t.kind != Number && t.kind != Integer || strings.HasPrefix(t.constant.text, "-")) {
		err = invalid("only a number can be negative")
	}
	if err != nil {
		return t, err
	}
	return term{kind: t.kind, constant: &constant{text: "-" + t.constant.text}}, nil
}

// two compiles both operands of an operator.
func (c *compiler) two(args []ast.Expr) (left, right term, err error) {
	if left, err = c.term(args[0]); err != nil {
		return left, right, err
	}
	right, err = c.term(args[1])
	return left, right, err
}

// joined compiles conditions that hold together, or of which one does.
func (c *compiler) joined(args []ast.Expr, by string) (term, error) {
	texts := make([]string, len(args))
	for i, e := range args {
		t, err := c.condition(e)
		if err != nil {
			return t, err
		}
		texts[i] = t.text
	}
	return term{kind: Truth, text: "(" + strings.Join(texts, by) + ")"}, nil
}

// shifted is an instant some time before or after another one.
func (c *compiler) shifted(operator string, args []ast.Expr) (term, error) {
	at, err := c.term(args[0])
	if err != nil {
		return at, err
	}
	by, isDuration, err := c.duration(args[1])
	switch {
	case err != nil:
		return at, err
	case !isDuration || at.constant == nil || at.kind != Instant:
		return at, invalid("only a duration can be added, and only to now or another instant, as in now - duration(\"24h\")")
	}
	if operator == operators.Subtract {
		by = -by
	}
	from, err := schemas.ParseTime(at.constant.text)
	return instant(from.Time().Add(by)), err
}

// duration reads a call of duration.
func (c *compiler) duration(e ast.Expr) (d time.Duration, ok bool, err error) {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "duration" {
		return 0, false, nil
	}
	text, err := c.textArgument("duration", e.AsCall().Args())
	if err != nil {
		return 0, false, err
	}
	if d, err = time.ParseDuration(text); err != nil {
		return 0, false, invalid("%.80q is no duration: write it like 24h or 15m", text)
	}
	return d, true, nil
}

func (c *compiler) textArgument(function string, args []ast.Expr) (string, error) {
	if len(args) == 1 {
		t, err := c.term(args[0])
		if err != nil {
			return "", err
		}
		if t.constant != nil && t.kind == Text {
			return t.constant.text, nil
		}
	}
	return "", invalid("%s has a text as its argument", function)
}

// functions are what filters can call, for messages.
var functions = []string{"all", "contains", "date", "decimal", "duration", "endsWith", "exists", "has", "size", "startsWith", "timestamp"}

func (c *compiler) function(name string, call ast.CallExpr, args []ast.Expr) (t term, err error) {
	member := call.IsMemberFunction()
	switch {
	case !slices.Contains(functions, name):
		return t, Unknown("function", name, functions)
	case name == "duration":
		return t, invalid("a duration is added to now, as in now - duration(\"24h\")")
	case name == "timestamp" && !member:
		text, err := c.textArgument(name, args)
		return term{kind: Instant, constant: &constant{text: text}}, err
	case name == "date" && !member:
		text, err := c.textArgument(name, args)
		return term{kind: Day, constant: &constant{text: text}}, err
	case name == "decimal" && !member:
		text, err := c.textArgument(name, args)
		return term{kind: Number, constant: &constant{text: text}}, err
	case name == "has" && !member && len(args) == 1:
		if t, err = c.term(args[0]); err != nil || t.constant != nil {
			return t, cmp.Or(err, invalid("has is for a column"))
		}
		return nothing(t, "!=")
	case name == "size" && (member && len(args) == 0 || !member && len(args) == 1):
		if t, err = c.term(subject(call, args)); err != nil {
			return t, err
		}
		return size(t)
	case member && len(args) == 1 && (name == "startsWith" || name == "endsWith" || name == "contains"):
		value, part, err := c.two([]ast.Expr{call.Target(), args[0]})
		if err != nil {
			return t, err
		}
		return c.matches(name, value, part)
	case member && len(args) == 2 && (name == "exists" || name == "all"):
		return c.loop(name, call.Target(), args)
	}
	return t, invalid("%s is not called like this", name)
}

// subject is what a function is about, which is written before or behind its name.
func subject(call ast.CallExpr, args []ast.Expr) ast.Expr {
	if call.IsMemberFunction() {
		return call.Target()
	}
	return args[0]
}

// loop is a condition about the elements of a list.
func (c *compiler) loop(name string, target ast.Expr, args []ast.Expr) (term, error) {
	list, err := c.term(target)
	switch {
	case err != nil:
		return list, err
	case !list.list || list.constant != nil:
		return list, invalid("%s is for columns with lists", name)
	case args[0].Kind() != ast.IdentKind:
		return list, invalid("the first argument of %s is a name for the element", name)
	case c.loops == maxLoops || c.variable != "":
		return list, invalid("a filter goes through %d lists at most, and not inside each other", maxLoops)
	}
	c.loops++
	c.variable, c.element = args[0].AsIdent(), term{kind: list.kind, nullable: list.nullable, digits: list.digits, text: "_element"}
	defer func() { c.variable = "" }()
	t, err := c.condition(args[1])
	if err != nil {
		return t, err
	}
	function := map[string]string{"exists": "arrayExists", "all": "arrayAll"}[name]
	return truth(function+"(_element -> "+t.text+", "+list.text+")", false), nil
}
