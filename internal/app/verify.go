package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/indexer/wallet"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/probe"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ObjectsCheck is the name of the check of published objects, beside those of package verify.
const ObjectsCheck = "objects"

// WalletsCheck is the name of the check of what is derived from the streams of nodes for wallets.
const WalletsCheck = "wallets"

// MovementsCheck is the name of the check of what streams did to the holdings of parties.
const MovementsCheck = "movements"

// RollupsCheck is the name of the check of what public history adds up to by hours.
const RollupsCheck = "rollups"

// TablesCheck is the name of the check of typed tables.
const TablesCheck = "tables"

// partsCheck is the name of the check of the files behind the tables, of all streams.
const partsCheck = "parts"

// Verification is what verify reports.
type Verification struct {
	OK bool `json:"ok"`
	// Schema is the version of the store's tables, and MigratedFrom the one that they had before this
	// command migrated them, 0 if it did not.
	Schema       int64 `json:"schema"`
	MigratedFrom int64 `json:"migrated_from,omitempty"`
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
	Streams []*StreamVerification `json:"streams,omitempty"`

	Public bool `json:"-"` // whether the public history was verified
}

// StreamVerification is what verify reports of one stream.
type StreamVerification struct {
	Stream string `json:"stream"`
	OK     bool   `json:"ok"`
	// Items are updates, and contracts that the stream began with.
	Items   int64           `json:"items"`
	Tables  verify.Tables   `json:"tables,omitempty"`
	Checks  []*verify.Check `json:"checks"`
	Seconds float64         `json:"seconds"`
}

// VerifyConfig chooses what is verified.
type VerifyConfig struct {
	// Checks are those of CheckNames to do; all that apply when empty.
	Checks []string
	// Stream is scan, or node:PARTICIPANT; all when empty.
	Stream string
	// Peer is the URL of a ledgerlake or scan whose history must be the same, "" for none.
	Peer string
	// Against is a folder with files in a Layout to compare with, and nothing else; "" for none.
	Against, Layout string
}

// CheckNames are the names of all checks, in the order in which they are done.
func CheckNames() []string {
	return append(append([]string{partsCheck}, verify.Names()...), MovementsCheck, RollupsCheck, TablesCheck, WalletsCheck, ObjectsCheck)
}

// check fills in the checks that apply and the peer.
func (f *VerifyConfig) check(names, scanURLs []string) error {
	if f.Against != "" {
		return f.checkAgainst()
	}
	for _, name := range f.Checks {
		if !slices.Contains(names, name) {
			return fmt.Errorf("--check %s is unknown%s the checks are %s", name, settings.DidYouMean(name, "", names), strings.Join(names, ", "))
		}
	}
	if f.Peer != "" {
		if err := settings.CheckURL("peer", f.Peer); err != nil {
			return err
		}
	}
	switch {
	case f.onlyParts():
	case !f.public() && (f.Peer != "" || len(f.Checks) > 0 && len(f.ofNodes()) == 0):
		return fmt.Errorf("--stream %s: days, verdicts, rewards, rollups and objects, and --peer, are about stream %s", f.Stream, schemas.ScanStream)
	case len(f.Checks) == 0:
		f.Checks = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == verify.Days && f.Peer == "" })
	case !f.has(verify.Days):
	case f.Peer == "" && len(scanURLs) == 0:
		return errors.New("--check days needs --peer or --scan-url, the address of a ledgerlake or scan to compare with")
	case f.Peer == "":
		f.Peer = scanURLs[0]
	}
	return nil
}

// public reports whether the public history is verified.
func (f *VerifyConfig) public() bool { return f.Stream == "" || f.Stream == schemas.ScanStream }

// onlyParts reports whether nothing else is checked.
func (f *VerifyConfig) onlyParts() bool { return slices.Equal(f.Checks, []string{partsCheck}) }

// ofNodes are the checks that apply to a node's own stream.
func (f *VerifyConfig) ofNodes() []string {
	return slices.DeleteFunc(slices.Clone(f.Checks), func(n string) bool {
		return n == ObjectsCheck || n == RollupsCheck || n == verify.Days || n == verify.Verdicts || n == verify.Rewards || n == partsCheck
	})
}

func (f *VerifyConfig) has(name string) bool { return slices.Contains(f.Checks, name) }

// Failed names the checks with findings, those of nodes with their stream.
func (v *Verification) Failed() []string {
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

// take sums up a list of checks. about is put before their findings.
func (v *Verification) take(about string, checks []*verify.Check) (ok bool) {
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

// verifier re-checks what a store and its objects hold.
type verifier struct {
	p       *process
	db      *database
	objects *objects
}

// Verify re-checks what f chooses. Nothing is repaired.
func (a *App) Verify(ctx context.Context, f VerifyConfig, progress *console.Progress) (*Verification, error) {
	if err := f.check(CheckNames(), a.p.cfg.ScanURLs); err != nil {
		return nil, settings.AsUsage(err)
	}
	if f.has(verify.Days) {
		if err := probe.Scan(ctx, "peer", f.Peer); err != nil {
			return nil, err
		}
	}
	open := a.db.open
	if f.Against != "" || f.has(ObjectsCheck) && f.public() {
		open = a.open
	}
	if err := open(ctx); err != nil {
		return nil, err
	}
	if f.Against != "" {
		return a.verifier().verifyAgainst(ctx, f.Against, progress)
	}
	if err := a.db.deriveRest(ctx); err != nil && !errors.Is(err, schemas.ErrDamaged) { // the checks name the damage
		return nil, err
	}
	if err := a.db.setMerges(ctx, "STOP"); err != nil { // the engine ends with us
		return nil, err
	}
	return a.verifier().verifyChecks(ctx, progress, &f)
}

func (a *App) verifier() *verifier { return &verifier{p: a.p, db: a.db, objects: a.objects} }

// verify does all checks that need no peer.
func (s *verifier) verify(ctx context.Context, p *console.Progress) (*Verification, error) {
	f := &VerifyConfig{}
	if err := f.check(CheckNames(), nil); err != nil {
		return nil, err
	}
	return s.verifyChecks(ctx, p, f)
}

func (s *verifier) verifyChecks(ctx context.Context, p *console.Progress, f *VerifyConfig) (*Verification, error) {
	v := &Verification{OK: true, Schema: int64(schemas.StoreVersion()), MigratedFrom: s.db.migratedFrom, Seconds: make(map[string]float64), Checks: []*verify.Check{}, Public: f.public() && f.ofHistory()}
	nodes, err := s.db.nodeStreams(ctx, f.Stream)
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
	if v.Public {
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
		v.Streams = append(v.Streams, &StreamVerification{
			Stream: stream, OK: v.take(stream+": ", report.Checks), Items: report.Items, Tables: report.Total, Checks: report.Checks,
			Seconds: time.Since(start).Seconds(),
		})
	}
	return v, nil
}

// verifyNode verifies a node's own stream and what is derived from it.
func (s *verifier) verifyNode(ctx context.Context, p *console.Progress, f *VerifyConfig, stream string) (*verify.Report, error) {
	report := new(verify.Report)
	cfg := verify.Config{
		Source: audit.NewReader(s.db.db, stream), Node: nodehistory.NewReader(s.db.db, stream),
		Checks:      slices.DeleteFunc(f.ofNodes(), func(n string) bool { return n == WalletsCheck || n == TablesCheck || n == MovementsCheck }),
		SkipDigests: !f.digests(), Segments: schemas.SegmentLength(s.p.cfg.BulkSegments),
	}
	if err := s.addCopies(ctx, &cfg, f.Stream != ""); err != nil {
		return nil, err
	}
	if len(cfg.Checks) > 0 {
		var err error
		if report, err = s.verifyStream(ctx, p, cfg); err != nil {
			return nil, err
		}
	}
	if f.has(MovementsCheck) {
		check, err := s.verifyMovements(ctx, p, stream)
		if err != nil {
			return nil, err
		}
		report.Checks = append(report.Checks, check)
	}
	if err := verifyTables(ctx, s, f, stream, &report.Checks); err != nil {
		return nil, err
	}
	if f.has(WalletsCheck) {
		check, err := s.verifyWallets(ctx, stream)
		if err != nil {
			return nil, err
		}
		report.Checks = append(report.Checks, check)
	}
	return report, nil
}

// verifyWallets derives the wallets of a node's stream again.
func (s *verifier) verifyWallets(ctx context.Context, stream string) (*verify.Check, error) {
	looked, differences, err := wallet.NewAudit(s.db.db, stream).Run(ctx)
	if err != nil {
		return nil, err
	}
	check := verify.NewCheck(WalletsCheck, 0)
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

// verifyPublic verifies the public history and the objects.
func (s *verifier) verifyPublic(ctx context.Context, p *console.Progress, f *VerifyConfig, v *Verification) error {
	start := time.Now()
	stored, err := s.verifyStore(ctx, p, f)
	if err != nil {
		return err
	}
	v.Tables, v.Supply, v.Checks = stored.Total, stored.Supply, append(v.Checks, stored.Checks...)
	v.Seconds["store"] = time.Since(start).Seconds()
	for _, derived := range []struct {
		name   string
		verify func(ctx context.Context, p *console.Progress, stream string) (*verify.Check, error)
	}{{MovementsCheck, s.verifyMovements}, {RollupsCheck, s.verifyRollups}} {
		if !f.has(derived.name) {
			continue
		}
		start = time.Now()
		check, err := derived.verify(ctx, p, schemas.ScanStream)
		if err != nil {
			return err
		}
		v.Checks = append(v.Checks, check)
		v.Seconds[derived.name] = time.Since(start).Seconds()
	}
	if err := verifyTables(ctx, s, f, schemas.ScanStream, &v.Checks); err != nil {
		return err
	}
	if f.has(ObjectsCheck) {
		start = time.Now()
		if err := s.verifyObjects(ctx, p, stored, v); err != nil {
			return err
		}
		v.Seconds[ObjectsCheck] = time.Since(start).Seconds()
	}
	return nil
}

// digests reports whether checks need the digests of tables.
func (f *VerifyConfig) digests() bool { return f.has(ObjectsCheck) || f.has(verify.Days) }

// verifyStore does the checks of package verify. The objects need the store's digests,
// whatever else is checked.
func (s *verifier) verifyStore(ctx context.Context, p *console.Progress, f *VerifyConfig) (_ *verify.Report, err error) {
	cfg := verify.Config{
		Source: audit.NewReader(s.db.db, schemas.ScanStream),
		Public: s.db.reader,
		Checks: slices.DeleteFunc(slices.Clone(f.Checks), func(n string) bool {
			return n == ObjectsCheck || n == WalletsCheck || n == MovementsCheck || n == RollupsCheck || n == TablesCheck || n == partsCheck
		}),
		SkipDigests: !f.digests(),
		Segments:    schemas.SegmentLength(s.p.cfg.BulkSegments),
	}
	if err := s.addCopies(ctx, &cfg, true); err != nil {
		return nil, err
	}
	if len(cfg.Checks) == 0 {
		cfg.Checks = []string{verify.Hashes}
	}
	if f.has(verify.Days) {
		if cfg.Peer, err = s.newPeer(f.Peer); err != nil {
			return nil, err
		}
	}
	return s.verifyStream(ctx, p, cfg)
}

// addCopies has the copies of a stream for lookups checked, if there are any. wanted says that
// there should be, where nothing else is checked.
func (s *verifier) addCopies(ctx context.Context, cfg *verify.Config, wanted bool) error {
	if !slices.Contains(cfg.Checks, verify.Lookups) {
		return nil
	}
	stream := cfg.Source.Stream()
	mark, err := journal.Watermark(ctx, s.db.db, journal.LookupsStream(stream))
	switch {
	case err != nil:
		return err
	case mark == schemas.Start && len(cfg.Checks) == 1 && wanted:
		return fmt.Errorf("check lookups verifies lookup copies, and stream %s has none: see --lookup-rows", stream)
	case mark == schemas.Start:
		cfg.Checks = slices.DeleteFunc(cfg.Checks, func(n string) bool { return n == verify.Lookups })
	case stream != schemas.ScanStream:
		cfg.Copies = copies.NewUpdates(s.db.db, stream)
	default:
		cfg.Copies = copies.NewItems(s.db.db, stream, s.db.packages.Catalog)
	}
	return nil
}

// verifyStream verifies the stream of cfg.Source.
func (s *verifier) verifyStream(ctx context.Context, p *console.Progress, cfg verify.Config) (report *verify.Report, err error) {
	conn, err := engine.Open(ctx, s.db.dsn)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	name := "verify store"
	if stream := cfg.Source.Stream(); stream != schemas.ScanStream {
		name = "verify " + stream
	}
	p.Begin(name, "updates and verdicts", 0)
	cfg.Catalog = s.db.packages.Catalog
	cfg.Audit, cfg.Progress = audit.NewQueries(conn, cfg.Source.Stream()), p.Set
	if report, err = verify.Run(ctx, cfg); err != nil {
		return nil, err
	}
	p.End(fmt.Sprintf("%d updates and verdicts", report.Items))
	return report, nil
}

// verifyObjects reads the objects back and compares them with the store, segment by segment.
func (s *verifier) verifyObjects(ctx context.Context, p *console.Progress, stored *verify.Report, v *Verification) error {
	exporter, err := s.objects.newExporter()
	if err != nil {
		return err
	}
	p.Begin("verify objects", "objects", 0)
	objects, err := exporter.VerifyObjects(ctx, func(v export.Progress) { p.Set(v.Objects, v.TotalObjects) })
	if err != nil {
		return err
	}
	p.End(fmt.Sprintf("%d objects, %d bytes", objects.ObjectsChecked, objects.BytesChecked))
	check := verify.NewCheck(ObjectsCheck, 0)
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
func (s *verifier) compareObjects(ctx context.Context, stored *verify.Report, objects *export.Verification, check *verify.Check) error {
	refs := slices.SortedFunc(maps.Keys(objects.Segments), func(x, y schemas.SegmentRef) int {
		return strings.Compare(x.String(), y.String())
	})
	movements, derived, err := s.db.reader.MovementDigests(ctx, schemas.SegmentLength(s.p.cfg.BulkSegments))
	if err != nil {
		return err
	}
	for _, ref := range refs {
		inStore := verify.Sum(stored.Segments[ref])
		start, end, err := ref.Bounds()
		if err != nil {
			return err
		}
		if schemas.EndOf(ref.MigrationID, end).Before(derived) {
			inStore["movements"] = movements[ref]
		}
		if !ref.IsImports() {
			if inStore["acs"], err = verify.ActiveAt(ctx, s.db.reader, ref.MigrationID, start); err != nil {
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
