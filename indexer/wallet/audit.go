package wallet

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/indexer/walletlog"
	"github.com/ledgerlake/ledgerlake/internal/history"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

var (
	//go:embed sql/audit_wallet_contracts.sql
	auditWalletContracts string
	//go:embed sql/audit_wallet_log.sql
	auditWalletLog string
	//go:embed sql/audit_wallet_status.sql
	auditWalletStatus string
	//go:embed sql/audit_wallet_parties.sql
	auditWalletParties string
	//go:embed sql/audit_payloads.sql
	auditPayloads string
)

const (
	// auditBuckets is into how many parts parties are divided, so that what differs can be
	// named.
	auditBuckets = 4096
	// auditPage is how many contracts are read at a time.
	auditPage = 5000
)

// Audit derives wallets again, without a look at how they were derived before, and
// compares: logs and tracked offers with the updates of the node's stream, contracts with the
// lifetimes, all at the watermark of wallets. Memory does not grow with history.
type Audit struct {
	db      *store.DB
	stream  string
	history *history.Reader
	node    *nodehistory.Reader
	wallets *wallethistory.Reader
	parser  *walletlog.Parser
}

// NewAudit returns the audit of the wallets of a node's stream.
func NewAudit(db *store.DB, stream string) *Audit {
	return &Audit{
		db: db, stream: stream, history: history.NewReader(db, stream), node: nodehistory.NewReader(db, stream), wallets: wallethistory.NewReader(db, stream),
		parser: walletlog.NewParser(values.Default()),
	}
}

// Difference is a part of a table of wallets that is not as history has it.
type Difference struct {
	// Table is the table; Party is one of the parties whose rows differ.
	Table, Party string
	// Expected and Found count the rows of the part: they may be equal in number.
	Expected, Found uint64
}

// Run compares, and returns how many rows of each table it looked at.
func (a *Audit) Run(ctx context.Context) (looked map[string]int64, differences []Difference, err error) {
	mark, err := a.wallets.Watermark(ctx)
	if err != nil || mark == schemas.Start || mark.RecordTime == schemas.MinMicros {
		return nil, nil, err
	}
	lifetimes, err := a.history.ContractsWatermark(ctx)
	if err != nil {
		return nil, nil, err
	}
	if lifetimes.Before(mark) {
		return nil, nil, fmt.Errorf("contract lifetimes are at %s, wallets at %s: let ingest finish first", lifetimes, mark)
	}
	sums := map[string]*auditSums{"wallet_contracts": newAuditSums(), "wallet_log": newAuditSums(), "wallet_status": newAuditSums()}
	at := store.Params{"stream": store.Text(a.stream), "at": store.Int(mark.Offset)}
	err = errors.Join(
		a.addStoredLog(ctx, at, sums["wallet_log"]), a.addStoredStatuses(ctx, at, sums["wallet_status"]),
		a.addUpdates(ctx, mark.Offset, sums["wallet_log"], sums["wallet_status"]),
		a.addStoredContracts(ctx, at, sums["wallet_contracts"]), a.addLifetimes(ctx, at, mark.Offset, sums["wallet_contracts"]),
	)
	if err != nil {
		return nil, nil, err
	}
	looked = make(map[string]int64)
	for _, table := range slices.Sorted(maps.Keys(sums)) {
		looked[table] = sums[table].looked
		differences = append(differences, sums[table].differences(table)...)
	}
	return looked, differences, nil
}

// auditSums add up rows whatever their order: a hash and a number for each part of the parties,
// of what is expected and of what is stored.
type auditSums struct {
	looked int64
	parts  [auditBuckets]struct {
		party            string
		hash             uint64 // of expected rows minus that of stored ones
		expected, stored uint64
	}
}

func newAuditSums() *auditSums { return new(auditSums) }

func (s *auditSums) expect(party string, row []byte) {
	p := &s.parts[xxh3.HashString(party)%auditBuckets]
	p.party, p.hash, p.expected = party, p.hash+xxh3.Hash(row), p.expected+1
}

func (s *auditSums) found(party string, row []byte) {
	p := &s.parts[xxh3.HashString(party)%auditBuckets]
	p.party, p.hash, p.stored = party, p.hash-xxh3.Hash(row), p.stored+1
	s.looked++
}

func (s *auditSums) differences(table string) (list []Difference) {
	for i := range s.parts {
		if p := &s.parts[i]; p.hash != 0 || p.expected != p.stored {
			list = append(list, Difference{Table: table, Party: p.party, Expected: p.expected, Found: p.stored})
		}
	}
	return list
}

func (a *Audit) addStoredLog(ctx context.Context, at store.Params, sums *auditSums) error {
	block := store.NewWalletLog()
	err := a.db.Select(ctx, auditWalletLog, at, block, func() error {
		for _, e := range block.AppendTo(nil) {
			sums.found(e.Party, fmt.Appendf(nil, "%+v", &e))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the logs of wallets: %w", err)
	}
	return nil
}

func (a *Audit) addStoredStatuses(ctx context.Context, at store.Params, sums *auditSums) error {
	block := store.NewStreamRecords[store.WalletStatus]()
	err := a.db.Select(ctx, auditWalletStatus, at, block, func() error {
		for _, s := range block.AppendTo(nil) {
			sums.found(s.Party, fmt.Appendf(nil, "%+v", s))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the tracked offers of wallets: %w", err)
	}
	return nil
}

// addUpdates derives logs and tracked offers from the stream.
func (a *Audit) addUpdates(ctx context.Context, through int64, log, statuses *auditSums) error {
	return a.node.EachUpdatePage(ctx, 0, through, pageSize, func(updates []schemas.Update) error {
		payloads, err := a.payloads(ctx, updates)
		if err != nil {
			return err
		}
		for i := range updates {
			result := a.parser.Update(&updates[i], func(id string) []byte { return payloads[id] })
			for j := range result.Entries {
				log.expect(result.Entries[j].Party, fmt.Appendf(nil, "%+v", &result.Entries[j]))
			}
			for _, s := range result.Statuses {
				statuses.expect(s.Party, fmt.Appendf(nil, "%+v", s))
			}
		}
		return nil
	})
}

// payloads reads the contracts that the parser needs to know, out of history.
func (a *Audit) payloads(ctx context.Context, updates []schemas.Update) (map[string][]byte, error) {
	payloads := make(map[string][]byte)
	var ids []string
	for i := range updates {
		ids = a.parser.Needs(ids, &updates[i])
	}
	if len(ids) == 0 {
		return payloads, nil
	}
	block := store.NewWalletPayloads()
	err := a.db.Select(ctx, auditPayloads, store.Params{"stream": store.Text(a.stream), "ids": store.Texts(ids)}, block, func() error {
		for _, p := range block.AppendTo(nil) {
			payloads[p.ContractID], _ = compactArgument(p.Argument, p.Encoding, p.PackageName, p.TemplateID)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading %d contracts that choices were exercised on: %w", len(ids), err)
	}
	return payloads, nil
}

// addStoredContracts adds the rows that say which contracts are active: of those of a party and
// contract, which follow one another, the last.
func (a *Audit) addStoredContracts(ctx context.Context, at store.Params, sums *auditSums) error {
	var last *store.WalletContract
	add := func() {
		if last != nil && !last.Ended {
			sums.found(last.Party, appendContract(nil, last))
		}
	}
	block := store.NewWalletContracts()
	err := a.db.Select(ctx, auditWalletContracts, at, block, func() error {
		rows := block.AppendTo(nil)
		for i := range rows {
			if last != nil && (last.Party != rows[i].Party || last.Event.ContractID != rows[i].Event.ContractID) {
				add()
			}
			last = &rows[i]
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the contracts of wallets: %w", err)
	}
	add()
	return nil
}

// addLifetimes makes rows of the contracts that are active, for those parties that are known to
// be on the node.
func (a *Audit) addLifetimes(ctx context.Context, at store.Params, offset int64, sums *auditSums) error {
	hosted := make(map[string]bool)
	parties, err := store.SelectAll(ctx, a.db, auditWalletParties, at, store.NewRecords[store.Name]())
	if err != nil {
		return fmt.Errorf("reading the parties of wallets: %w", err)
	}
	for _, party := range parties {
		hosted[party.Name] = true
	}
	q := nodehistory.ActiveAtQuery{Offset: offset, Templates: slices.Sorted(maps.Keys(templates)), Limit: auditPage}
	for {
		page, err := a.node.ActiveAtOffset(ctx, q)
		if err != nil {
			return err
		}
		for i := range page {
			a.addActive(&page[i], hosted, sums)
		}
		if len(page) < q.Limit {
			return nil
		}
		last := &page[len(page)-1].Event
		q.AfterCreatedAt, q.AfterContractID = last.CreatedAt, last.ContractID
	}
}

func (a *Audit) addActive(c *nodehistory.ActiveLifetime, hosted map[string]bool, sums *auditSums) {
	e := &c.Event
	template := schemas.TemplateName(e.PackageName, e.TemplateID)
	kind := templates[template]
	e.Argument, _ = compactArgument(e.Argument, c.Encoding, e.PackageName, e.TemplateID)
	row := store.WalletContract{
		ContractRow: store.ContractRow{Event: *e, CreatedIn: c.CreatedIn}, Template: template,
		SynchronizerID: c.SynchronizerID, Offset: c.CreatedOffset, WalletTerms: kind.terms(e.Argument),
	}
	stakeholders := slices.Concat(e.Signatories, e.Observers)
	slices.Sort(stakeholders)
	for _, row.Party = range slices.Compact(stakeholders) {
		if hosted[row.Party] && kind.keptFor(row.Party, &row.WalletTerms) {
			sums.expect(row.Party, appendContract(nil, &row))
		}
	}
}

// appendContract writes the columns of a row that lifetimes know.
func appendContract(dst []byte, c *store.WalletContract) []byte {
	e := &c.Event
	return fmt.Appendf(dst, "%s %s %s %d %s %s %s %s %d %q %q %+v\n%s", c.Party, c.Template, e.ContractID, c.Offset, c.CreatedIn,
		c.SynchronizerID, e.TemplateID, e.PackageName, e.CreatedAt, e.Signatories, e.Observers, c.WalletTerms, e.Argument)
}

// compactArgument converts create arguments, and leaves them as they are where it cannot.
func compactArgument(argument []byte, encoding schemas.Encoding, packageName, templateID string) ([]byte, schemas.Encoding) {
	if encoding == schemas.CompactJSON {
		return argument, encoding
	}
	compact, err := values.AppendCompact(nil, argument, values.Default().Template(packageName, templateID))
	if err != nil {
		return argument, encoding
	}
	return compact, schemas.CompactJSON
}
