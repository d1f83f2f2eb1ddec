package sqlprompt

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

//go:embed sql/words.sql
var wordsOfStore string

// words are what Tab completes, beside keywords.
type words struct {
	tables, functions []string
	columns           map[string][]string // by table
}

// keywords are those of statements that read.
var keywords = strings.Fields(`ALL AND ANTI ANY ARRAY AS ASC ASOF BETWEEN BY CASE CAST CROSS CUBE DESC DESCRIBE DISTINCT
	ELSE END EXCEPT EXISTS EXPLAIN FALSE FILL FINAL FROM FULL GLOBAL GROUP HAVING ILIKE IN INNER INTERSECT INTERVAL IS JOIN
	LEFT LIKE LIMIT NOT NULL NULLS OFFSET ON OR ORDER OUTER OVER PARTITION PREWHERE QUALIFY RIGHT ROLLUP ROWS SAMPLE SELECT
	SEMI SETTINGS SHOW STEP TABLE TABLES THEN TIES TO TOTALS TRUE UNION USING WHEN WHERE WINDOW WITH`)

func readWords(ctx context.Context, conn driver.Conn) (w *words, err error) {
	rows, err := conn.Query(ctx, wordsOfStore)
	if err != nil {
		return nil, fmt.Errorf("reading the names of tables and functions: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	w = &words{columns: make(map[string][]string)}
	for rows.Next() {
		var kind, word, of string
		if err := rows.Scan(&kind, &word, &of); err != nil {
			return nil, fmt.Errorf("reading the names of tables and functions: %w", err)
		}
		switch kind {
		case "table":
			w.tables = append(w.tables, word)
		case "column":
			w.columns[of] = append(w.columns[of], word)
		default:
			w.functions = append(w.functions, word+"(")
		}
	}
	return w, rows.Err()
}

var (
	// lastWord is the word before the cursor, of which a point is no part.
	lastWord = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*$`)
	// wantsTable is text after which the name of a table comes.
	wantsTable = regexp.MustCompile(`(?i)(\b(from|join|table|describe|desc)|^\s*\\d)\s+$`)
	// anyWord are the words of a text.
	anyWord = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
)

// complete returns what may be in place of the last word of head, the part of the line before the cursor, and
// what is before and after it. Earlier are the other lines of the statement.
func (w *words) complete(earlier, head, tail string) (before string, found []string, after string) {
	word := lastWord.FindString(head)
	head = strings.TrimSuffix(head, word)
	if wantsTable.MatchString(earlier + head) {
		return head, matching(word, w.tables), tail
	}
	found = matching(word, w.columnsOf(earlier+head+tail))
	if word == "" || strings.HasSuffix(head, ".") {
		return head, found, tail
	}
	found = append(found, matching(word, w.tables, w.functions)...)
	for _, keyword := range matching(word, keywords) {
		if word == strings.ToLower(word) {
			keyword = strings.ToLower(keyword)
		}
		found = append(found, keyword)
	}
	return head, unique(found), tail
}

// columnsOf are the columns of the tables that a text names, or of all if it names none.
func (w *words) columnsOf(text string) []string {
	var named, all []string
	mentioned := make(map[string]bool)
	for _, word := range anyWord.FindAllString(text, -1) {
		mentioned[word] = true
	}
	for _, table := range w.tables {
		all = append(all, w.columns[table]...)
		if mentioned[table] {
			named = append(named, w.columns[table]...)
		}
	}
	if named == nil {
		named = all
	}
	return unique(named)
}

// matching are the words that begin as word does, in any case.
func matching(word string, lists ...[]string) (found []string) {
	for _, list := range lists {
		for _, w := range list {
			if len(w) >= len(word) && strings.EqualFold(w[:len(word)], word) {
				found = append(found, w)
			}
		}
	}
	return found
}

// unique is a list without repetitions.
func unique(list []string) (once []string) {
	seen := make(map[string]bool, len(list))
	for _, word := range list {
		if !seen[word] {
			once = append(once, word)
		}
		seen[word] = true
	}
	return once
}
