package sqlprompt

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
)

// everyType has rows with a value of each type, with empty ones and with NULL.
const everyType = `SELECT number AS n, toInt8(number - 128) AS i8, toInt16(-number) AS i16, toInt32(-number) AS i32, toUInt8(number) AS u8, toUInt16(65535 - number) AS u16,
	toUInt32(4294967295 - number) AS u32, toUInt64(18446744073709551615 - number) AS u64, toString(toInt128('-170141183460469231731687303715884105') - number) AS i128,
	toFloat32(number / 3) AS f32, -number / 3 AS f64, number % 2 = 0 AS yes, concat('é', toString(number)) AS "a,b (c)", toFixedString('ab', 2) AS fixed,
	toLowCardinality(toString(number)) AS low, CAST(number % 2, 'Enum8(\'zero (0)\' = 0, \'one,\' = 1)') AS choice, toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0') AS uuid, toIPv4('10.0.0.1') AS ip,
	toDate('1970-01-01') + number AS day, toDate32('1900-01-01') + number AS day32, toDateTime('2026-07-01 00:00:00', 'UTC') + number AS second,
	toDateTime64('1969-12-31 23:59:59.123456', 6, 'UTC') + number AS micro, toDateTime64('2026-07-01 00:00:00.123456789', 9, 'UTC') AS nano,
	toDateTime64('2299-12-31 23:59:59.999999', 6, 'UTC') AS never, toDateTime64('1900-01-01 00:00:00', 6, 'UTC') AS least,
	toDecimal32(-number, 2) AS d32, toDecimal64('1.0000000007', 10) - number AS d64, toDecimal128('-12345678901234567890.1234567891', 10) + number AS d128, toDecimal256('9999999999999999999999999999999999999999.5', 10) - number AS d256,
	if(number % 3 = 0, NULL, number) AS nothing, arrayMap(x -> if(x = 1, NULL, toString(x)), range(number % 4)) AS list, arrayMap(x -> range(x), range(toUInt8(number % 4))) AS lists,
	map('b', number, 'a', 1) AS entries, map('k', [toDecimal64(number, 2)]) AS deep, CAST((number, [('x', toDate('2026-07-01'))]), 'Tuple(id UInt64, parts Array(Tuple(name String, day Date)))') AS named,
	CAST((number, NULL), 'Tuple(a UInt64, b Nullable(String))') AS pair, emptyArrayString() AS none
FROM numbers(10) ORDER BY n`

// The engine reads from a file what it has sent, to the last digit, and columns are in their order.
func TestBinaryFormats(t *testing.T) {
	conn := enginetest.Start(t).Conn
	run := func(format, query string) []byte {
		var out bytes.Buffer
		q := New(Config{Conn: conn, Out: &out, Format: format})
		if _, err := q.run(t.Context(), statement{text: query, line: 1}, &out, rowWriters[format]); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		return out.Bytes()
	}
	for format, name := range map[string]string{"parquet": "Parquet", "arrow": "Arrow"} {
		for what, query := range map[string]string{
			"every type": everyType,
			"no rows":    "SELECT 1 AS n, [2] AS list, (3, 'x') AS pair, toInt256(1) AS large WHERE 0",
			// several batches and row groups
			"many rows": "SELECT number AS n, repeat(toString(number), 500) AS text, arrayWithConstant(number % 3, number) AS list FROM numbers(9000) ORDER BY n",
		} {
			file := filepath.Join(t.TempDir(), what+"."+format)
			if err := os.WriteFile(file, run(format, query), 0o600); err != nil {
				t.Fatal(err)
			}
			want := run("json", query)
			// The guard is not asked: it refuses files.
			rows, err := conn.Query(t.Context(), "SELECT * FROM file('"+file+"', "+name+") ORDER BY n")
			if err != nil {
				t.Fatalf("%s, %s: %v", format, what, err)
			}
			var got bytes.Buffer
			if err := writeJSONRows(&got, rows); err != nil {
				t.Fatalf("%s, %s: %v", format, what, err)
			}
			if err := rows.Close(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%s, %s: the file has\n%.3000s\nwant\n%.3000s", format, what, got.Bytes(), want)
			}
		}
	}
	var out bytes.Buffer
	if err := New(Config{Conn: conn, Out: &out, Format: "parquet"}).RunAll(t.Context(), strings.NewReader("SELECT 1; SELECT 2")); err == nil {
		t.Error("two statements make one file")
	}
	if err := New(Config{Conn: conn, Out: &out, Format: "parquet"}).RunAll(t.Context(), strings.NewReader("SELECT number, (2, 3), number FROM numbers(1)")); err == nil || !strings.Contains(err.Error(), "two columns have the name number") {
		t.Errorf("two columns of one name: %v", err)
	}
}
