// Command upgradefixture makes the store of an earlier version again, which the tests of upgrades
// unpack and migrate:
//
//	go run ./scripts/upgradefixture --commit v0.1.0 --name 0.1.0
//
// It builds the commit, has that binary ingest a short simulated history and the stream of one of its
// nodes with default settings, verifies the store, and packs the stopped engine's folder into
// cmd/ledgerlake/testdata/store-NAME.tar.zst, with what verify printed in store-NAME.json beside it.
//
// The network is that of the working tree, as the tests go on ingesting from it: a change of what the
// simulated network does by itself takes new fixtures.
//
// Nothing of the machine is packed: the engine's configuration, its users, its log and its lock are
// left out because each start makes them again, and a file with the name of the machine or of a
// folder outside the store is refused. Two runs differ in what a store draws by chance, such as the
// ids of its tables; the same folder gives the same archive.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// network is the simulated network whose history the store has.
type network struct {
	Updates int    `json:"updates"`
	Days    int    `json:"days"`
	Seed    uint64 `json:"seed"`
}

// fixture is the content of store-NAME.json.
type fixture struct {
	Commit  string  `json:"commit"`
	Schema  int     `json:"schema"` // the version of the tables
	Network network `json:"network"`
	// Verification is what verify --json printed, without how long it took.
	Verification json.RawMessage `json:"verification"`
}

func main() {
	commit := flag.String("commit", "", "`COMMIT` whose binary makes the store, such as v0.1.0")
	name := flag.String("name", "", "`VERSION` in the names of the files, such as 0.1.0")
	out := flag.String("out", "cmd/ledgerlake/testdata", "`FOLDER` of the files")
	n := network{}
	flag.IntVar(&n.Updates, "updates", 250, "`NUMBER` of updates of the history")
	flag.IntVar(&n.Days, "days", 3, "`NUMBER` of days of the history")
	flag.Uint64Var(&n.Seed, "seed", 11, "seed `NUMBER` of the simulated network")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *commit, filepath.Join(*out, "store-"+*name), n)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "upgradefixture:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, commit, out string, n network) (err error) {
	if commit == "" || strings.HasSuffix(out, "-") {
		return errors.New("--commit and --name are needed")
	}
	dir, err := os.MkdirTemp("", "upgradefixture-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p, err := build(ctx, commit, dir)
	if err != nil {
		return err
	}
	present := &product{binary: filepath.Join(dir, "present"), data: p.data + "-network"}
	if err := present.compile(ctx, "."); err != nil {
		return err
	}
	if err := p.fill(ctx, present, n); err != nil {
		return err
	}
	f := fixture{Commit: p.commit, Network: n}
	if err := p.describe(ctx, &f); err != nil {
		return err
	}
	replaced, err := p.replacedParts(ctx)
	if err != nil {
		return err
	}
	if err := pack(out+".tar.zst", filepath.Join(p.data, "engine"), replaced, marks(dir)); err != nil {
		return err
	}
	text, err := json.MarshalIndent(f, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(out+".json", append(text, '\n'), 0o644)
}

// product is a binary and its data folder.
type product struct{ commit, binary, data string }

// build makes the binary of a commit.
func build(ctx context.Context, commit, dir string) (_ *product, err error) {
	id, err := output(exec.CommandContext(ctx, "git", "rev-parse", commit+"^{commit}"))
	if err != nil {
		return nil, err
	}
	source := filepath.Join(dir, "source")
	p := &product{commit: strings.TrimSpace(string(id)), binary: filepath.Join(dir, "ledgerlake"), data: filepath.Join(dir, "data")}
	if _, err := output(exec.CommandContext(ctx, "git", "worktree", "add", "--quiet", "--detach", source, commit)); err != nil {
		return nil, err
	}
	defer func() {
		_, removeErr := output(exec.Command("git", "worktree", "remove", "--force", source))
		err = errors.Join(err, removeErr)
	}()
	return p, p.compile(ctx, source)
}

// compile makes the binary of a source tree.
func (p *product) compile(ctx context.Context, source string) error {
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", p.binary, "./cmd/ledgerlake")
	c.Dir = source
	_, err := output(c)
	return err
}

// output is what a command printed, with its messages in the error.
func output(c *exec.Cmd) ([]byte, error) {
	var messages bytes.Buffer
	c.Stderr = &messages
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, messages.Bytes())
	}
	return out, nil
}

func (p *product) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, p.binary, args...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	return c
}

// fill has the present binary serve the network, and this one ingest its public history and the stream
// of a node.
func (p *product) fill(ctx context.Context, present *product, n network) error {
	served, stop := context.WithCancel(ctx)
	defer stop()
	c := present.command(served, "devnet", "--data", present.data, "--devnet-listen", "127.0.0.1:0", "--node-listen", "127.0.0.1:0",
		"--updates", strconv.Itoa(n.Updates), "--days", strconv.Itoa(n.Days), "--seed", strconv.FormatUint(n.Seed, 10))
	stdout, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	scanURL, nodeURL, err := addresses(stdout)
	if err == nil {
		_, err = output(p.command(ctx, "ingest", "--once", "--data", p.data, "--scan-url", scanURL, "--node-url", nodeURL))
	}
	stop()
	// Once it was asked to stop, its exit status says nothing.
	_ = c.Wait()
	return err
}

// addresses reads where devnet serves.
func addresses(from io.Reader) (scanURL, nodeURL string, err error) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "simulated network: "); ok {
			scanURL, _, _ = strings.Cut(rest, " ")
		}
		if strings.HasPrefix(lines.Text(), "ledger API of ") {
			_, nodeURL, _ = strings.Cut(lines.Text(), ": ")
			return scanURL, nodeURL, nil
		}
	}
	return "", "", errors.Join(errors.New("devnet ended before it served"), lines.Err())
}

// describe fills in what the binary says of itself and of the store.
func (p *product) describe(ctx context.Context, f *fixture) error {
	out, err := output(p.command(ctx, "version", "--json"))
	if err != nil {
		return err
	}
	var version struct{ Schema int }
	if err := json.Unmarshal(out, &version); err != nil {
		return fmt.Errorf("reading the version: %w", err)
	}
	f.Schema = version.Schema
	if out, err = output(p.command(ctx, "verify", "--json", "--data", p.data)); err != nil {
		return err
	}
	var v map[string]any
	if err := json.Unmarshal(out, &v); err != nil {
		return fmt.Errorf("reading what verify printed: %w", err)
	}
	delete(v, "seconds")
	for _, stream := range v["streams"].([]any) {
		delete(stream.(map[string]any), "seconds")
	}
	f.Verification, err = json.Marshal(v)
	return err
}

// replacedParts are the folders of the parts that merges have replaced, which the engine keeps for
// some minutes: they are most of a short store.
func (p *product) replacedParts(ctx context.Context) ([]string, error) {
	out, err := output(p.command(ctx, "sql", "--data", p.data, "--format", "tsv", "SELECT path FROM system.parts WHERE NOT active"))
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), nil
}

// marks are texts that say on which machine the store was made: none of them may be packed.
func marks(dir string) []string {
	list := []string{dir}
	if home, err := os.UserHomeDir(); err == nil {
		list = append(list, home+"/")
	}
	if host, err := os.Hostname(); err == nil && len(host) > 3 { // a shorter one is in any random bytes
		list = append(list, host)
	}
	return list
}
