package indexer

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

//go:embed sql/ended_earlier.sql
var endedEarlier string

// keepEnded stores who the stakeholders of the contracts were that ended in a range of a
// node's own stream: those that began in it, and those that began before it and have their
// end in the live table by now.
func (l *Lifetimes) keepEnded(ctx context.Context, row store.BatchRow, begun []store.Lifetime, earlier []store.End) error {
	block := store.NewEndedContracts()
	for i := range begun {
		if lt := &begun[i]; lt.ArchivedAt != store.NeverArchived && lt.Begun() {
			block.Append(l.stream, store.EndedContract{
				ArchivedOffset: lt.ArchivedOffset, Key: store.ContractHash(lt.Event.ContractID), TemplateID: lt.Event.TemplateID,
				Signatories: lt.Event.Signatories, Observers: lt.Event.Observers,
			})
		}
	}
	if len(earlier) > 0 {
		found := store.NewEndedContracts()
		err := l.db.Select(ctx, endedEarlier, store.Params{
			"stream": store.Text(l.stream), "migration": store.Int(row.Through.MigrationID),
			"after": store.Int(row.After.Offset), "through": store.Int(row.Through.Offset),
		}, found, func() error {
			for _, c := range found.AppendTo(nil) {
				block.Append(l.stream, c)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("reading the contracts that ended: %w", err)
		}
	}
	return l.db.Insert(ctx, "ended_contracts", row.Stream+fmt.Sprintf("/%d/%s/ended", row.Sequence, row.Hash), block)
}
