package values

import (
	"errors"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

var (
	textType = Scalar(KindText)
	intType  = Scalar(KindInt64)
	pair     = Record(Field{Label: "owner", Type: Scalar(KindParty)}, Field{Label: "n", Type: intType})
	older    = Record(
		Field{Label: "z", Type: textType},
		Field{Label: "b", Type: Optional(textType)},
		Field{Label: "a", Type: Optional(intType)})
	account = Variant(Field{Label: "InAccount", Type: textType}, Field{Label: "Closed", Type: unit})
)

// One row for each kind of the network's table of encodings, and for their corners.
var sameBothWays = []struct {
	name, compact, protobuf string
	typ                     *Type
}{
	{"record", `{"n":"3","owner":"a::12"}`, `{"record":{"fields":[{"value":{"party":"a::12"}},{"value":{"int64":"3"}}]}}`, pair},
	{"record without fields", `{}`, `{"record":{}}`, emptyRecord},
	{"unit", `{}`, `{"unit":{}}`, unit},
	{"true", `true`, `{"bool":true}`, Scalar(KindBool)},
	{"false", `false`, `{"bool":false}`, Scalar(KindBool)},
	{"int64", `"42"`, `{"int64":"42"}`, intType},
	{"largest int64", `"9223372036854775807"`, `{"int64":"9223372036854775807"}`, intType},
	{"smallest int64", `"-9223372036854775808"`, `{"int64":"-9223372036854775808"}`, intType},
	{"numeric", `"1.0000000000"`, `{"numeric":"1.0000000000"}`, Scalar(KindNumeric)},
	{"numeric of 38 digits", `"-9999999999999999999999999999.9999999999"`, `{"numeric":"-9999999999999999999999999999.9999999999"}`, Scalar(KindNumeric)},
	{"numeric with more fraction digits", `"0.12345678901234"`, `{"numeric":"0.12345678901234"}`, Scalar(KindNumeric)},
	{"text", `"hi"`, `{"text":"hi"}`, textType},
	{"text with escapes", `"a\"\\\n\u0001é😀/"`, `{"text":"a\"\\\n\u0001é😀/"}`, textType},
	{"empty text", `""`, `{"text":""}`, textType},
	{"party", `"alice::1220"`, `{"party":"alice::1220"}`, Scalar(KindParty)},
	{"contract id", `"00ab"`, `{"contractId":"00ab"}`, Scalar(KindContractID)},
	{"timestamp", `"2024-09-20T13:31:29.552807Z"`, `{"timestamp":"1726839089552807"}`, Scalar(KindTimestamp)},
	{"timestamp of whole milliseconds", `"2024-09-20T13:31:29.550Z"`, `{"timestamp":"1726839089550000"}`, Scalar(KindTimestamp)},
	{"timestamp of whole seconds", `"1970-01-01T00:00:00Z"`, `{"timestamp":"0"}`, Scalar(KindTimestamp)},
	{"timestamp before 1970", `"1969-12-31T23:59:59.999999Z"`, `{"timestamp":"-1"}`, Scalar(KindTimestamp)},
	{"first timestamp", `"0001-01-01T00:00:00Z"`, `{"timestamp":"-62135596800000000"}`, Scalar(KindTimestamp)},
	{"last timestamp", `"9999-12-31T23:59:59.999999Z"`, `{"timestamp":"253402300799999999"}`, Scalar(KindTimestamp)},
	{"date", `"2024-09-20"`, `{"date":19986}`, Scalar(KindDate)},
	{"leap day", `"2000-02-29"`, `{"date":11016}`, Scalar(KindDate)},
	{"first date", `"0001-01-01"`, `{"date":-719162}`, Scalar(KindDate)},
	{"last date", `"9999-12-31"`, `{"date":2932896}`, Scalar(KindDate)},
	{"list", `["1","2"]`, `{"list":{"elements":[{"int64":"1"},{"int64":"2"}]}}`, List(intType)},
	{"empty list", `[]`, `{"list":{}}`, List(intType)},
	{"none", `null`, `{"optional":{}}`, Optional(intType)},
	{"some", `"5"`, `{"optional":{"value":{"int64":"5"}}}`, Optional(intType)},
	{"some list", `[]`, `{"optional":{"value":{"list":{}}}}`, Optional(List(intType))},
	{"optional of optional none", `null`, `{"optional":{}}`, Optional(Optional(intType))},
	{"optional of optional some none", `[]`, `{"optional":{"value":{"optional":{}}}}`, Optional(Optional(intType))},
	{"optional of optional some some", `["5"]`, `{"optional":{"value":{"optional":{"value":{"int64":"5"}}}}}`, Optional(Optional(intType))},
	{"three optionals, the last none", `[[]]`, `{"optional":{"value":{"optional":{"value":{"optional":{}}}}}}`, Optional(Optional(Optional(intType)))},
	{"three optionals", `[["5"]]`, `{"optional":{"value":{"optional":{"value":{"optional":{"value":{"int64":"5"}}}}}}}`, Optional(Optional(Optional(intType)))},
	{"optional of list of optional", `[null,"1"]`, `{"optional":{"value":{"list":{"elements":[{"optional":{}},{"optional":{"value":{"int64":"1"}}}]}}}}`, Optional(List(Optional(intType)))},
	{"variant", `{"tag":"InAccount","value":"x"}`, `{"variant":{"constructor":"InAccount","value":{"text":"x"}}}`, account},
	{"variant of unit", `{"tag":"Closed","value":{}}`, `{"variant":{"constructor":"Closed","value":{"unit":{}}}}`, account},
	{"enum", `"Red"`, `{"enum":{"constructor":"Red"}}`, Scalar(KindEnum)},
	{"text map", `{"":"e","k":"v"}`, `{"textMap":{"entries":[{"key":"","value":{"text":"e"}},{"key":"k","value":{"text":"v"}}]}}`, TextMap(textType)},
	{"empty text map", `{}`, `{"textMap":{}}`, TextMap(textType)},
	{"gen map", `[["1","a"],["2","b"]]`, `{"genMap":{"entries":[{"key":{"int64":"1"},"value":{"text":"a"}},{"key":{"int64":"2"},"value":{"text":"b"}}]}}`, GenMap(intType, textType)},
	{"gen map in its own order", `[["2","b"],["1","a"]]`, `{"genMap":{"entries":[{"key":{"int64":"2"},"value":{"text":"b"}},{"key":{"int64":"1"},"value":{"text":"a"}}]}}`, GenMap(intType, textType)},
	{"empty gen map", `[]`, `{"genMap":{}}`, GenMap(intType, textType)},
	{"trailing none is null", `{"a":null,"b":null,"z":"x"}`, `{"record":{"fields":[{"value":{"text":"x"}},{"value":{"optional":{}}},{"value":{"optional":{}}}]}}`, older},
	{"older version without its last field", `{"b":null,"z":"x"}`, `{"record":{"fields":[{"value":{"text":"x"}},{"value":{"optional":{}}}]}}`, older},
	{"older version without two fields", `{"z":"x"}`, `{"record":{"fields":[{"value":{"text":"x"}}]}}`, older},
	{"relative time", `{"microseconds":"600000000"}`, `{"record":{"fields":[{"value":{"int64":"600000000"}}]}}`, relTime},
}

func TestBothWays(t *testing.T) {
	for _, tt := range sameBothWays {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := AppendCompact([]byte("before"), []byte(tt.protobuf), tt.typ); err != nil || string(got) != "before"+tt.compact {
				t.Errorf("AppendCompact(%s) = %s, %v, want %s", tt.protobuf, got, err, tt.compact)
			}
			if got, err := AppendProtobuf([]byte("before"), []byte(tt.compact), tt.typ); err != nil || string(got) != "before"+tt.protobuf {
				t.Errorf("AppendProtobuf(%s) = %s, %v, want %s", tt.compact, got, err, tt.protobuf)
			}
		})
	}
}

func TestAppendCompactReads(t *testing.T) {
	labelled := `{"record":{"recordId":{"packageId":"p","moduleName":"M","entityName":"E"},"fields":[` +
		`{"label":"owner","value":{"party":"a"}},{"label":"n","value":{"int64":"3"}}]}}`
	tests := []struct {
		name, protobuf, want string
		typ                  *Type
	}{
		{"labels without a type", labelled, `{"n":"3","owner":"a"}`, nil},
		{"labels with a type", labelled, `{"n":"3","owner":"a"}`, pair},
		{"labels in another order than the type's", `{"record":{"fields":[{"label":"n","value":{"int64":"3"}},{"label":"owner","value":{"party":"a"}}]}}`, `{"n":"3","owner":"a"}`, pair},
		{"a label that the type lacks", `{"record":{"fields":[{"label":"more","value":{"list":{"elements":[{"text":"x"}]}}},{"label":"n","value":{"int64":"3"}}]}}`, `{"more":["x"],"n":"3"}`, pair},
		{"empty labels", `{"record":{"fields":[{"label":"","value":{"party":"a"}},{"label":"","value":{"int64":"3"}}]}}`, `{"n":"3","owner":"a"}`, pair},
		{"members in any order, white space", ` { "record" : { "fields" : [ { "value" : { "party" : "a" } , "label" : "owner" } ] , "recordId" : null } } `, `{"owner":"a"}`, nil},
		{"escapes in member names", `{"\u0072ecord":{"fields":[{"value":{"party":"\u0061"}}]}}`, `{"owner":"a"}`, pair},
		{"a trailing none that the type lacks", `{"record":{"fields":[{"value":{"party":"a"}},{"value":{"int64":"3"}},{"value":{"optional":{}}}]}}`, `{"n":"3","owner":"a"}`, pair},
		{"empty lists written out", `{"list":{"elements":[]}}`, `[]`, List(intType)},
		{"null lists", `{"genMap":{"entries":null}}`, `[]`, GenMap(intType, intType)},
		{"null in an optional", `{"optional":{"value":null}}`, `null`, Optional(intType)},
		{"text map entry without key", `{"textMap":{"entries":[{"value":{"text":"e"}}]}}`, `{"":"e"}`, nil},
		{"text map entries in any order", `{"textMap":{"entries":[{"key":"b","value":{"unit":{}}},{"key":"a","value":{"unit":{}}}]}}`, `{"a":{},"b":{}}`, nil},
		{"ids are left out", `{"variant":{"variantId":{"entityName":"V"},"constructor":"A","value":{"enum":{"enumId":{"entityName":"E"},"constructor":"Red"}}}}`, `{"tag":"A","value":"Red"}`, nil},
		{"a constructor that the type lacks", `{"variant":{"constructor":"New","value":{"int64":"1"}}}`, `{"tag":"New","value":"1"}`, account},
		{"unit for a record without fields", `{"unit":{}}`, `{}`, emptyRecord},
		{"a record without fields for unit", `{"record":{}}`, `{}`, unit},
		{"a scalar whose type is a record", `{"text":"a"}`, `"a"`, pair},
		{"content of a constructor that is not of its type", `{"variant":{"constructor":"Closed","value":{"int64":"1"}}}`, `{"tag":"Closed","value":"1"}`, account},
		{"a label whose value is not of its type", `{"record":{"fields":[{"label":"owner","value":{"list":{}}}]}}`, `{"owner":[]}`, pair},
		{"a value for its optional", `{"record":{"fields":[{"value":{"text":"x"}},{"value":{"text":"y"}}]}}`, `{"b":"y","z":"x"}`, older},
		{"an optional for its value", `{"record":{"fields":[{"value":{"optional":{"value":{"party":"a"}}}},{"value":{"optional":{}}}]}}`, `{"n":null,"owner":"a"}`, pair},
		{"int64 as a number", `{"int64":-7}`, `"-7"`, intType},
		{"numeric is filled up", `{"numeric":"1.5"}`, `"1.5000000000"`, nil},
		{"whole numeric", `{"numeric":"-3"}`, `"-3.0000000000"`, nil},
		{"zero with an exponent", `{"numeric":"0E-10"}`, `"0.0000000000"`, nil},
		{"positive exponent", `{"numeric":"-12.5e+3"}`, `"-12500.0000000000"`, nil},
		{"negative exponent", `{"numeric":"12.5e-3"}`, `"0.0125000000"`, nil},
		{"date as text", `{"date":"19986"}`, `"2024-09-20"`, nil},
		{"timestamp as a number", `{"timestamp":1726839089552807}`, `"2024-09-20T13:31:29.552807Z"`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := AppendCompact(nil, []byte(tt.protobuf), tt.typ); err != nil || string(got) != tt.want {
				t.Errorf("AppendCompact(%s) = %s, %v, want %s", tt.protobuf, got, err, tt.want)
			}
		})
	}
}

func TestAppendProtobufReads(t *testing.T) {
	tests := []struct {
		name, compact, want string
		typ                 *Type
	}{
		{"members in any order", `{"owner":"a", "n":"3"}`, `{"record":{"fields":[{"value":{"party":"a"}},{"value":{"int64":"3"}}]}}`, pair},
		{"numbers for int64", `{"n":3,"owner":"a"}`, `{"record":{"fields":[{"value":{"party":"a"}},{"value":{"int64":"3"}}]}}`, pair},
		{"a null that the type lacks", `{"a":null,"n":"3","owner":"a","zz":null}`, `{"record":{"fields":[{"value":{"party":"a"}},{"value":{"int64":"3"}}]}}`, pair},
		{"a missing field before a present one", `{"a":"1","z":"x"}`, `{"record":{"fields":[{"value":{"text":"x"}},{"value":{"optional":{}}},{"value":{"optional":{"value":{"int64":"1"}}}}]}}`, older},
		{"a numeric that is a number", `1.5`, `{"numeric":"1.5000000000"}`, Scalar(KindNumeric)},
		{"zero with an exponent", `"0E-10"`, `{"numeric":"0.0000000000"}`, Scalar(KindNumeric)},
		{"a plus sign", `"+1"`, `{"int64":"1"}`, intType},
		{"nanoseconds are cut off", `"2024-09-20T13:31:29.552807999Z"`, `{"timestamp":"1726839089552807"}`, Scalar(KindTimestamp)},
		{"one fraction digit", `"1970-01-01T00:00:00.5Z"`, `{"timestamp":"500000"}`, Scalar(KindTimestamp)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := AppendProtobuf(nil, []byte(tt.compact), tt.typ); err != nil || string(got) != tt.want {
				t.Errorf("AppendProtobuf(%s) = %s, %v, want %s", tt.compact, got, err, tt.want)
			}
		})
	}
}

// nested returns n optionals, or lists, around a text.
func nested(n int) (compact, protobuf string, t *Type) {
	t = textType
	for range n - 1 {
		t = List(t)
	}
	return strings.Repeat(`[`, n-1) + `"x"` + strings.Repeat(`]`, n-1),
		strings.Repeat(`{"list":{"elements":[`, n-1) + `{"text":"x"}` + strings.Repeat(`]}}`, n-1), t
}

func TestDepth(t *testing.T) {
	compact, protobuf, typ := nested(MaxDepth)
	if got, err := AppendProtobuf(nil, []byte(compact), typ); err != nil || string(got) != protobuf {
		t.Errorf("AppendProtobuf of %d levels: %v", MaxDepth, err)
	}
	if got, err := AppendCompact(nil, []byte(protobuf), typ); err != nil || string(got) != compact {
		t.Errorf("AppendCompact of %d levels: %v", MaxDepth, err)
	}
	compact, protobuf, typ = nested(MaxDepth + 1)
	if _, err := AppendProtobuf(nil, []byte(compact), typ); !errors.Is(err, ErrDepth) {
		t.Errorf("AppendProtobuf of %d levels: %v, want %v", MaxDepth+1, err, ErrDepth)
	}
	if _, err := AppendCompact(nil, []byte(protobuf), nil); !errors.Is(err, ErrDepth) {
		t.Errorf("AppendCompact of %d levels: %v, want %v", MaxDepth+1, err, ErrDepth)
	}
}

func TestAppendCompactErrors(t *testing.T) {
	tests := []struct {
		name, protobuf string
		typ            *Type
		want           error
	}{
		{"no label and no type", `{"record":{"fields":[{"value":{"text":"x"}}]}}`, nil, ErrUnknownType},
		{"no label in a constructor that the type lacks", `{"variant":{"constructor":"New","value":{"record":{"fields":[{"value":{"text":"x"}}]}}}}`, account, ErrUnknownType},
		{"a field that the type lacks", `{"record":{"fields":[{"value":{"party":"a"}},{"value":{"int64":"3"}},{"value":{"text":"x"}}]}}`, pair, ErrUnknownField},
		{"another kind", `{"record":{"fields":[{"value":{"text":"a"}}]}}`, pair, ErrMismatch},
		{"another kind in a list", `{"record":{"fields":[{"value":{"list":{"elements":[{"int64":"1"}]}}}]}}`, Record(Field{Label: "l", Type: List(textType)}), ErrMismatch},
		{"a record that does not fit at all", `{"record":{"fields":[{"value":{"text":"a"}}]}}`, textType, ErrUnknownType},
		{"int64 out of range", `{"int64":"9223372036854775808"}`, nil, ErrInvalid},
		{"int64 far out of range", `{"int64":"99999999999999999999999"}`, nil, ErrInvalid},
		{"int64 below range", `{"int64":"-9223372036854775809"}`, nil, ErrInvalid},
		{"int64 with a fraction", `{"int64":"1.0"}`, nil, ErrInvalid},
		{"empty int64", `{"int64":""}`, nil, ErrInvalid},
		{"numeric that is no number", `{"numeric":"1,5"}`, nil, ErrInvalid},
		{"numeric without digits", `{"numeric":"."}`, nil, ErrInvalid},
		{"numeric with a huge exponent", `{"numeric":"1e999999999"}`, nil, ErrInvalid},
		{"numeric that is too long when written out", `{"numeric":"1E90"}`, nil, ErrInvalid},
		{"timestamp out of range", `{"timestamp":"253402300800000000"}`, nil, ErrInvalid},
		{"date out of range", `{"date":-719163}`, nil, ErrInvalid},
		{"a value without a kind", `{}`, nil, ErrInvalid},
		{"a value of two kinds", `{"int64":"1","text":"x"}`, nil, ErrInvalid},
		{"an unknown kind", `{"float":"1"}`, nil, ErrInvalid},
		{"no value at all", `"x"`, nil, ErrInvalid},
		{"a text that is a number", `{"text":1}`, nil, ErrInvalid},
		{"a field without a value", `{"record":{"fields":[{"label":"a"}]}}`, nil, ErrInvalid},
		{"a variant without a constructor", `{"variant":{"value":{"unit":{}}}}`, nil, ErrInvalid},
		{"a variant without a value", `{"variant":{"constructor":"A"}}`, nil, ErrInvalid},
		{"an enum without a constructor", `{"enum":{}}`, nil, ErrInvalid},
		{"a gen map entry without a value", `{"genMap":{"entries":[{"key":{"unit":{}}}]}}`, nil, ErrInvalid},
		{"a gen map entry without a key", `{"genMap":{"entries":[{"value":{"unit":{}}}]}}`, nil, ErrInvalid},
		{"a text map entry without a value", `{"textMap":{"entries":[{"key":"a"}]}}`, nil, ErrInvalid},
		{"a unit with members", `{"unit":{"a":1}}`, nil, ErrInvalid},
		{"two fields of one label", `{"record":{"fields":[{"label":"a","value":{"unit":{}}},{"label":"a","value":{"unit":{}}}]}}`, nil, jsonscan.ErrDuplicateKey},
		{"a label and a position of one name", `{"record":{"fields":[{"value":{"party":"a"}},{"label":"owner","value":{"party":"b"}}]}}`, pair, jsonscan.ErrDuplicateKey},
		{"two text map entries of one key", `{"textMap":{"entries":[{"key":"a","value":{"unit":{}}},{"key":"a","value":{"unit":{}}}]}}`, nil, jsonscan.ErrDuplicateKey},
		{"a member twice", `{"int64":"1","int64":"2"}`, nil, jsonscan.ErrDuplicateKey},
		{"invalid UTF-8", "{\"text\":\"\xff\"}", nil, jsonscan.ErrUTF8},
		{"malformed JSON", `{"text":`, nil, jsonscan.ErrSyntax},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := AppendCompact([]byte("kept"), []byte(tt.protobuf), tt.typ)
			if !errors.Is(err, tt.want) || string(got) != "kept" {
				t.Errorf("AppendCompact(%s) = %s, %v, want error %v", tt.protobuf, got, err, tt.want)
			}
		})
	}
}

func TestAppendProtobufErrors(t *testing.T) {
	tests := []struct {
		name, compact string
		typ           *Type
		want          error
	}{
		{"no type", `"x"`, nil, ErrUnknownType},
		{"a constructor that the type lacks", `{"tag":"New","value":{}}`, account, ErrUnknownType},
		{"a member that the type lacks", `{"n":"3","other":"x","owner":"a"}`, pair, ErrUnknownField},
		{"a missing field", `{"n":"3"}`, pair, ErrMissingField},
		{"a missing last field", `{"owner":"a"}`, pair, ErrMissingField},
		{"null for a text", `{"z":null}`, older, ErrInvalid},
		{"a list for a record", `[]`, pair, ErrInvalid},
		{"a number for a text", `1`, textType, ErrInvalid},
		{"int64 out of range", `9223372036854775808`, intType, ErrInvalid},
		{"int64 with an exponent", `1e3`, intType, ErrInvalid},
		{"no such day", `"2023-02-29"`, Scalar(KindDate), ErrInvalid},
		{"no such hour", `"2023-02-28T24:00:00Z"`, Scalar(KindTimestamp), ErrInvalid},
		{"time without a zone", `"2023-02-28T23:00:00"`, Scalar(KindTimestamp), ErrInvalid},
		{"time with an offset", `"2023-02-28T23:00:00+01:00"`, Scalar(KindTimestamp), ErrInvalid},
		{"ten fraction digits", `"2023-02-28T23:00:00.0123456789Z"`, Scalar(KindTimestamp), ErrInvalid},
		{"a variant without a tag", `{"value":{}}`, account, ErrInvalid},
		{"a variant without a value", `{"tag":"Closed"}`, account, ErrInvalid},
		{"a variant with a third member", `{"tag":"Closed","value":{},"x":1}`, account, ErrInvalid},
		{"a nested optional of two", `["1","2"]`, Optional(Optional(intType)), ErrInvalid},
		{"a nested optional that is no list", `"1"`, Optional(Optional(intType)), ErrInvalid},
		{"a gen map entry of one part", `[["1"]]`, GenMap(intType, intType), ErrInvalid},
		{"a gen map entry of three parts", `[["1","2","3"]]`, GenMap(intType, intType), ErrInvalid},
		{"a member twice", `{"n":"3","n":"4","owner":"a"}`, pair, jsonscan.ErrDuplicateKey},
		{"invalid UTF-8", "\"\xff\"", textType, jsonscan.ErrUTF8},
		{"malformed JSON", `"x`, textType, jsonscan.ErrSyntax},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := AppendProtobuf([]byte("kept"), []byte(tt.compact), tt.typ)
			if !errors.Is(err, tt.want) || string(got) != "kept" {
				t.Errorf("AppendProtobuf(%s) = %s, %v, want error %v", tt.compact, got, err, tt.want)
			}
		})
	}
}

func TestErrorsNameTheField(t *testing.T) {
	typ := Default().Template("splice-amulet", "Splice.Amulet:Amulet")
	_, err := AppendProtobuf(nil, []byte(`{"dso":"d","owner":"o","amount":{"initialAmount":"x"}}`), typ)
	if err == nil || !strings.HasPrefix(err.Error(), "amount: initialAmount: ") {
		t.Errorf("AppendProtobuf = %v, want an error that names amount: initialAmount", err)
	}
}

func TestFallback(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"a value", ` {"b":1, "a":2}`, `{"error":"field \"x\"","value":{"a":2,"b":1}}`},
		{"no JSON", `{"a`, `{"error":"field \"x\"","value":"{\"a"}`},
		{"no UTF-8", "\"\xff\"", `{"error":"field \"x\"","value":"\"` + "\uFFFD" + `\""}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Fallback(nil, []byte(tt.value), errors.New(`field "x"`))
			if string(got) != tt.want || !jsonscan.IsCanonical(got) {
				t.Errorf("Fallback(%s) = %s, want %s", tt.value, got, tt.want)
			}
		})
	}
}
