package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// DuckDB is compared with exports.
var DuckDB = Comparator{"DuckDB", "scripts/setup.sh duckdb", func() error {
	_, err := duckDBFolder()
	return err
}}

// duckDBFolder is bench/duckdb of this module, if DuckDB and node, which runs it, are installed.
func duckDBFolder() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("looking for the module: %w", err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "bench", "duckdb")
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		return "", fmt.Errorf("looking for DuckDB: %w", err)
	}
	_, err = exec.LookPath("node")
	return dir, err
}

// RunDuckDB runs a script of bench/duckdb on a task and reads the JSON that it prints.
func (l *Lab) RunDuckDB(ctx context.Context, script string, task, into any) error {
	dir, err := duckDBFolder()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(task)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "node", filepath.Join(dir, script), string(raw))
	cmd.Stderr = l.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("running DuckDB: %w", err)
	}
	return json.Unmarshal(out, into)
}
