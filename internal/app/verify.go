package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// objectsCheck is the name of the check of published objects, beside those of package verify.
const objectsCheck = "objects"

// walletsCheck is the name of the check of what is derived from the streams of nodes for wallets.
const walletsCheck = "wallets"

// partsCheck is the name of the check of the files behind the tables, of all streams.
const partsCheck = "parts"

// verification is what verify reports.
type verification struct {
	OK bool `json:"ok"`
	// Tables are those of the store. They are digested for objects and days only.
	Tables         verify.Tables `json:"tables,omitempty"`
	ObjectsChecked int64         `json:"objects_checked"`
	Segments       int           `json:"segments_checked"`
	// Checks have what each check looked at and found.
	Checks []*verify.Check `json:"checks"`
	Supply *verify.Supply  `json:"supply,omitempty"`
	// Findings are those of all checks in words.
	Findings []string           `json:"findings,omitempty"`
	Seconds  map[string]float64 `json:"seconds"`
	// Streams are those of nodes; what stands above is the public history. OK and Findings
	// are over all of them.
	Streams []*streamVerification `json:"streams,omitempty"`

	public bool // whether the public history was verified
}

// streamVerification is what verify reports of one stream.
type streamVerification struct {
	Stream string `json:"stream"`
	OK     bool   `json:"ok"`
	// Items are updates, and contracts that the stream began with.
	Items   int64           `json:"items"`
	Tables  verify.Tables   `json:"tables,omitempty"`
	Checks  []*verify.Check `json:"checks"`
	Seconds float64         `json:"seconds"`
}

// verifyFlags choose what verify does.
type verifyFlags struct {
	checks []string
	stream string
	peer   string
	json   bool
}

func newVerify(a *app) *cobra.Command {
	var f verifyFlags
	names := checkNames()
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "re-check that the store holds all of history, and the objects the same",
		Long: `verify reads every row of the store and every published object back. Nothing is repaired.
The exit status is 1 when anything differs. The checks, of which --check selects some:

  parts      every file of every part of every table has the checksum it was written with,
             those of indexes included, and no part is missing or set aside
  batches    the journal has no gap, and each batch has the rows it was committed with
  hashes     the content of each batch has the hash it was committed with
  days       each day has the same rows as a peer: another ledgerlake, or a scan (--peer)
  verdicts   each verdict that commits what the governance party is informed of has its update,
             and the verdicts on public transactions have no gap
  lifetimes  contract lifetimes, derived again from the events, are those of the store; what the
             governance party signs does not end without having begun, and each migration begins
             with what was active before
  coins      every transfer adds up, and only choices that mint or burn change the supply;
             of a node's own stream, where the node sees a transfer whole
  lookups    the copies by update id, of a node's own stream by offset, where --lookup-rows was
             used, are those of history
  indexes    samples of history are found by update id, external transaction hash and contract
             id, as the query tier looks them up
  wallets    contracts, transaction logs and tracked offers of the parties of a node are those
             that its stream has
  objects    per object its SHA-256, row count and order; per segment and table the
             digest of its rows, which must be that of the store

All streams of the store are verified, or the one that --stream names. days, verdicts and
objects are about the public history, which is stream scan.

Without --check all are done, days only with --peer. Named in --check, days compares with
--scan-url when there is no --peer.`,
		Example: "  ledgerlake verify --data /srv/ledgerlake\n" +
			"  ledgerlake verify --stream scan\n" +
			"  ledgerlake verify --check batches,hashes --json | jq .checks\n" +
			"  ledgerlake verify --check days --peer https://lake.example.com",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			a.quiet()
			if err := f.check(names, a.cfg.ScanURLs); err != nil {
				return settings.AsUsage(err)
			}
			s := newStack(a)
			defer s.closeInto(&err)
			if f.has(verify.Days) {
				if err := reachScan(cmd.Context(), "peer", f.peer); err != nil {
					return err
				}
			}
			open := s.openStore
			if f.has(objectsCheck) && f.public() {
				open = s.open
			}
			if err := open(cmd.Context()); err != nil {
				return err
			}
			if err := s.deriveRest(cmd.Context()); err != nil && !errors.Is(err, schemas.ErrDamaged) { // the checks name the damage
				return err
			}
			if err := s.setMerges(cmd.Context(), "STOP"); err != nil { // the engine ends with us
				return err
			}
			report, err := s.verifyChecks(cmd.Context(), console.NewProgress(a.console), &f)
			if err != nil {
				return err
			}
			return a.reportVerification(report, f.json)
		},
	}
	cmd.Flags().StringSliceVar(&f.checks, "check", nil, "checks to do: "+strings.Join(names, ", ")+"; all that apply when empty")
	cmd.Flags().StringVar(&f.stream, "stream", "", "the stream to verify: scan, or node:PARTICIPANT; all when empty")
	cmd.Flags().StringVar(&f.peer, "peer", "", "address of a ledgerlake or scan whose history must be the same")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

// checkNames are the names of all checks, in the order in which they are done.
func checkNames() []string {
	return append(append([]string{partsCheck}, verify.Names()...), walletsCheck, objectsCheck)
}

// check fills in the checks that apply and the peer.
func (f *verifyFlags) check(names, scanURLs []string) error {
	for _, name := range f.checks {
		if !slices.Contains(names, name) {
			return fmt.Errorf("--check %s%s there are %s", name, settings.DidYouMean(name, "", names), strings.Join(names, ", "))
		}
	}
	if f.peer != "" {
		if err := settings.CheckURL("peer", f.peer); err != nil {
			return err
		}
	}
	switch {
	case f.onlyParts():
	case !f.public() && (f.peer != "" || len(f.checks) > 0 && len(f.ofNodes()) == 0):
		return fmt.Errorf("--stream %s: days, verdicts and objects, and --peer, are about stream %s", f.stream, schemas.ScanStream)
	case len(f.checks) == 0:
		f.checks = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == verify.Days && f.peer == "" })
	case !f.has(verify.Days):
	case f.peer == "" && len(scanURLs) == 0:
		return errors.New("--check days needs --peer or --scan-url, the address of a ledgerlake or scan to compare with")
	case f.peer == "":
		f.peer = scanURLs[0]
	}
	return nil
}

// public reports whether the public history is verified.
func (f *verifyFlags) public() bool { return f.stream == "" || f.stream == schemas.ScanStream }

// onlyParts reports whether nothing else is checked.
func (f *verifyFlags) onlyParts() bool { return slices.Equal(f.checks, []string{partsCheck}) }

// ofNodes are the checks that apply to a node's own stream.
func (f *verifyFlags) ofNodes() []string {
	return slices.DeleteFunc(slices.Clone(f.checks), func(n string) bool {
		return n == objectsCheck || n == verify.Days || n == verify.Verdicts || n == partsCheck
	})
}

func (f *verifyFlags) has(name string) bool { return slices.Contains(f.checks, name) }

func (a *app) reportVerification(v *verification, asJSON bool) error {
	if asJSON {
		if err := json.NewEncoder(a.data).Encode(v); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	} else {
		v.print(a.stdout)
	}
	if !v.OK {
		return fmt.Errorf("verification found differences in %s: %w", strings.Join(v.failed(), ", "), errReported)
	}
	return nil
}

// failed names the checks with findings, those of nodes with their stream.
func (v *verification) failed() []string {
	names := failed(v.Checks)
	for _, st := range v.Streams {
		for _, name := range failed(st.Checks) {
			names = append(names, name+" of "+st.Stream)
		}
	}
	return names
}

func failed(checks []*verify.Check) []string {
	var names []string
	for _, c := range checks {
		if !c.OK {
			names = append(names, c.Name)
		}
	}
	return names
}

// print writes the report for people: tables, then a line for each check with its findings
// below it, and the same for each stream of a node under its name.
func (v *verification) print(w io.Writer) {
	if v.public {
		printTables(w, v.Tables)
		if s := v.Supply; s != nil {
			fmt.Fprintf(w, "%s coins circulate: %s carried, %s minted, %s burned\n", s.Circulating, s.Carried, s.Minted, s.Burned)
		}
	}
	printChecks(w, v.Checks)
	for _, st := range v.Streams {
		fmt.Fprintf(w, "stream %s: %d items\n", st.Stream, st.Items)
		printTables(w, st.Tables)
		printChecks(w, st.Checks)
	}
}

func printTables(w io.Writer, tables verify.Tables) {
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		fmt.Fprintf(w, "%-18s %12d rows  %s\n", table, tables[table].Rows, tables[table].Hash())
	}
}

func printChecks(w io.Writer, checks []*verify.Check) {
	for _, c := range checks {
		outcome := "ok"
		if !c.OK {
			outcome = fmt.Sprintf("%d DIFFERENCES", c.Total)
		}
		var counts []string
		for _, kind := range slices.Sorted(maps.Keys(c.Checked)) {
			counts = append(counts, fmt.Sprintf("%d %s", c.Checked[kind], strings.ReplaceAll(kind, "_", " ")))
		}
		fmt.Fprintf(w, "%-10s %-16s %s\n", c.Name, outcome, strings.Join(counts, ", "))
		for _, f := range c.Findings {
			fmt.Fprintln(w, "  DIFFERENCE:", f)
		}
		if more := c.Total - int64(len(c.Findings)); more > 0 {
			fmt.Fprintf(w, "  and %d more\n", more)
		}
	}
}

// take sums up a list of checks. about is put before their findings.
func (v *verification) take(about string, checks []*verify.Check) (ok bool) {
	ok = true
	for _, c := range checks {
		ok = ok && c.OK
		for _, finding := range c.Findings {
			v.Findings = append(v.Findings, about+c.Name+": "+finding.String())
		}
	}
	v.OK = v.OK && ok
	return ok
}

// verify does all checks that need no peer.
func (s *stack) verify(ctx context.Context, p *console.Progress) (*verification, error) {
	f := &verifyFlags{}
	if err := f.check(checkNames(), nil); err != nil {
		return nil, err
	}
	return s.verifyChecks(ctx, p, f)
}

func (s *stack) verifyChecks(ctx context.Context, p *console.Progress, f *verifyFlags) (*verification, error) {
	v := &verification{OK: true, Seconds: make(map[string]float64), Checks: []*verify.Check{}, public: f.public() && f.ofHistory()}
	nodes, err := s.nodeStreams(ctx, f.stream)
	if err != nil {
		return nil, err
	}
	parts := verify.NewCheck(partsCheck, 0)
	if f.has(partsCheck) {
		v.Checks = append(v.Checks, parts)
		if err := s.verifyParts(ctx, p, parts); err != nil {
			return nil, err
		}
	}
	if v.public {
		if err := s.verifyPublic(ctx, p, f, v); err != nil && !v.unreadable(schemas.ScanStream, err, parts) {
			return nil, err
		}
	}
	defer func() { v.take("", v.Checks) }() // with what cannot be read of the streams that follow
	if len(f.ofNodes()) == 0 {
		return v, nil
	}
	for _, stream := range nodes {
		start := time.Now()
		report, err := s.verifyNode(ctx, p, f, stream)
		if err != nil && v.unreadable(stream, err, parts) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("verifying stream %s: %w", stream, err)
		}
		v.Streams = append(v.Streams, &streamVerification{
			Stream: stream, OK: v.take(stream+": ", report.Checks), Items: report.Items, Tables: report.Total, Checks: report.Checks,
			Seconds: time.Since(start).Seconds(),
		})
	}
	return v, nil
}

// verifyNode verifies a node's own stream and what is derived from it.
func (s *stack) verifyNode(ctx context.Context, p *console.Progress, f *verifyFlags, stream string) (*verify.Report, error) {
	report := new(verify.Report)
	cfg := verify.Config{
		Source: audit.NewReader(s.db, stream), Node: nodehistory.NewReader(s.db, stream), Checks: slices.DeleteFunc(f.ofNodes(), func(n string) bool { return n == walletsCheck }),
		SkipDigests: !f.digests(), Segments: schemas.SegmentLength(s.app.cfg.BulkSegments),
	}
	if err := s.addCopies(ctx, &cfg, f.stream != ""); err != nil {
		return nil, err
	}
	if len(cfg.Checks) > 0 {
		var err error
		if report, err = s.verifyStream(ctx, p, cfg); err != nil {
			return nil, err
		}
	}
	if f.has(walletsCheck) {
		check, err := s.verifyWallets(ctx, stream)
		if err != nil {
			return nil, err
		}
		report.Checks = append(report.Checks, check)
	}
	return report, nil
}

// verifyWallets derives the wallets of a node's stream again.
func (s *stack) verifyWallets(ctx context.Context, stream string) (*verify.Check, error) {
	looked, differences, err := indexer.NewWalletAudit(s.db, stream).Run(ctx)
	if err != nil {
		return nil, err
	}
	check := verify.NewCheck(walletsCheck, 0)
	for table, rows := range looked {
		check.Count(table, rows)
	}
	for _, d := range differences {
		check.Add(verify.Finding{
			What: "rows of parties in table " + d.Table, Where: "party " + d.Party + ", or one beside it",
			Expected: fmt.Sprintf("%d rows", d.Expected), Found: fmt.Sprintf("%d rows", d.Found),
		})
	}
	return check, nil
}

// setMerges lets the embedded engine STOP or START merges: an engine that has just been
// started, or filled, has some to do, and they would take half the machine while history is
// read. It leaves an engine alone that is not ours.
func (s *stack) setMerges(ctx context.Context, to string) error {
	if s.app.cfg.ClickHouseDSN != "" {
		return nil
	}
	if err := s.db.Exec(ctx, "SYSTEM "+to+" MERGES", "", nil); err != nil {
		return fmt.Errorf("letting the engine %s merges: %w", strings.ToLower(to), err)
	}
	return nil
}

// nodeStreams are the nodes' own streams of the store, or of them the named one. A stream
// that the store does not have is an error.
func (s *stack) nodeStreams(ctx context.Context, only string) ([]string, error) {
	if only == schemas.ScanStream {
		return nil, nil
	}
	rows, err := journal.Streams(ctx, s.db)
	if err != nil {
		return nil, err
	}
	known := []string{schemas.ScanStream}
	var nodes []string
	for _, row := range rows {
		if row.Stream == schemas.ScanStream || isDerived(row.Stream) {
			continue
		}
		known = append(known, row.Stream)
		if only == "" || row.Stream == only {
			nodes = append(nodes, row.Stream)
		}
	}
	if only != "" && len(nodes) == 0 {
		return nil, fmt.Errorf("--stream %s: the store has %s", only, strings.Join(known, ", "))
	}
	return nodes, nil
}

// isDerived reports whether a journal is of something that is derived from a stream.
func isDerived(stream string) bool {
	return strings.HasSuffix(stream, indexer.ContractsStream("")) || strings.HasSuffix(stream, journal.LookupsStream("")) ||
		strings.HasSuffix(stream, journal.WalletStream("")) || strings.HasSuffix(stream, journal.SideStream(""))
}

// verifyPublic verifies the public history and the objects.
func (s *stack) verifyPublic(ctx context.Context, p *console.Progress, f *verifyFlags, v *verification) error {
	start := time.Now()
	stored, err := s.verifyStore(ctx, p, f)
	if err != nil {
		return err
	}
	v.Tables, v.Supply, v.Checks = stored.Total, stored.Supply, append(v.Checks, stored.Checks...)
	v.Seconds["store"] = time.Since(start).Seconds()
	if f.has(objectsCheck) {
		start = time.Now()
		if err := s.verifyObjects(ctx, p, stored, v); err != nil {
			return err
		}
		v.Seconds[objectsCheck] = time.Since(start).Seconds()
	}
	return nil
}

// digests reports whether checks need the digests of tables.
func (f *verifyFlags) digests() bool { return f.has(objectsCheck) || f.has(verify.Days) }

// verifyStore does the checks of package verify. The objects need the store's digests,
// whatever else is checked.
func (s *stack) verifyStore(ctx context.Context, p *console.Progress, f *verifyFlags) (_ *verify.Report, err error) {
	cfg := verify.Config{
		Source:      audit.NewReader(s.db, schemas.ScanStream),
		Public:      s.reader,
		Checks:      slices.DeleteFunc(slices.Clone(f.checks), func(n string) bool { return n == objectsCheck || n == walletsCheck || n == partsCheck }),
		SkipDigests: !f.digests(),
		Segments:    schemas.SegmentLength(s.app.cfg.BulkSegments),
	}
	if err := s.addCopies(ctx, &cfg, true); err != nil {
		return nil, err
	}
	if len(cfg.Checks) == 0 {
		cfg.Checks = []string{verify.Hashes}
	}
	if f.has(verify.Days) {
		if cfg.Peer, err = s.newPeer(f.peer); err != nil {
			return nil, err
		}
	}
	return s.verifyStream(ctx, p, cfg)
}

// addCopies has the copies of a stream for lookups checked, if there are any. wanted says that
// there should be, where nothing else is checked.
func (s *stack) addCopies(ctx context.Context, cfg *verify.Config, wanted bool) error {
	if !slices.Contains(cfg.Checks, verify.Lookups) {
		return nil
	}
	stream := cfg.Source.Stream()
	mark, err := journal.Watermark(ctx, s.db, journal.LookupsStream(stream))
	switch {
	case err != nil:
		return err
	case mark == schemas.Start && len(cfg.Checks) == 1 && wanted:
		return fmt.Errorf("check lookups is about copies for lookups, and stream %s has none: see --lookup-rows", stream)
	case mark == schemas.Start:
		cfg.Checks = slices.DeleteFunc(cfg.Checks, func(n string) bool { return n == verify.Lookups })
	case stream != schemas.ScanStream:
		cfg.Copies = copies.NewUpdates(s.db, stream)
	default:
		catalog, err := s.app.catalog()
		if err != nil {
			return err
		}
		cfg.Copies = copies.NewItems(s.db, stream, catalog)
	}
	return nil
}

// verifyStream verifies the stream of cfg.Source.
func (s *stack) verifyStream(ctx context.Context, p *console.Progress, cfg verify.Config) (report *verify.Report, err error) {
	conn, err := engine.Open(ctx, s.dsn)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	name := "verify store"
	if stream := cfg.Source.Stream(); stream != schemas.ScanStream {
		name = "verify " + stream
	}
	p.Begin(name, "updates and verdicts", 0)
	if cfg.Catalog, err = s.app.catalog(); err != nil {
		return nil, err
	}
	cfg.Audit, cfg.Progress = audit.NewQueries(conn, cfg.Source.Stream()), p.Set
	if report, err = verify.Run(ctx, cfg); err != nil {
		return nil, err
	}
	p.End(fmt.Sprintf("%d updates and verdicts", report.Items))
	return report, nil
}

// verifyObjects reads the objects back and compares them with the store, segment by segment.
func (s *stack) verifyObjects(ctx context.Context, p *console.Progress, stored *verify.Report, v *verification) error {
	exporter, err := s.newExporter()
	if err != nil {
		return err
	}
	p.Begin("verify objects", "objects", 0)
	objects, err := exporter.VerifyObjects(ctx, func(v export.Progress) { p.Set(v.Objects, v.TotalObjects) })
	if err != nil {
		return err
	}
	p.End(fmt.Sprintf("%d objects, %d bytes", objects.ObjectsChecked, objects.BytesChecked))
	check := verify.NewCheck(objectsCheck, 0)
	check.Count("objects", objects.ObjectsChecked)
	check.Count("segments", int64(len(objects.Segments)))
	check.Count("folders", int64(objects.Folders))
	for _, finding := range objects.Findings {
		check.Add(verify.Finding{What: finding, Where: "the bucket"})
	}
	if err := s.compareObjects(ctx, stored, objects, check); err != nil {
		return err
	}
	v.ObjectsChecked, v.Segments = objects.ObjectsChecked, len(objects.Segments)
	v.Checks = append(v.Checks, check)
	return nil
}

// compareObjects says where the objects differ from the store.
func (s *stack) compareObjects(ctx context.Context, stored *verify.Report, objects *export.Verification, check *verify.Check) error {
	refs := slices.SortedFunc(maps.Keys(objects.Segments), func(x, y schemas.SegmentRef) int {
		return strings.Compare(x.String(), y.String())
	})
	for _, ref := range refs {
		inStore := verify.Sum(stored.Segments[ref])
		if !ref.IsImports() {
			start, _, err := ref.Bounds()
			if err != nil {
				return err
			}
			if inStore["acs"], err = verify.ActiveAt(ctx, s.reader, ref.MigrationID, start); err != nil {
				return err
			}
		}
		for _, table := range slices.Sorted(maps.Keys(inStore)) {
			if got, ok := objects.Segments[ref][table]; ok && got != inStore[table] {
				check.Add(verify.Finding{
					What: "table " + table + " of the objects", Where: "segment " + ref.String(),
					Expected: inStore[table].String() + " as in the store", Found: got.String(),
				})
			}
		}
	}
	return nil
}
