package ledger

import (
	"context"
	"errors"

	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Source reads the committed stream of one node; *history.Reader is one.
type Source interface {
	// LedgerEnd is the offset up to which the stream is complete, 0 when it is empty;
	// LedgerActiveEnd is the same for active sets, and never above it.
	LedgerEnd(ctx context.Context) (int64, error)
	LedgerActiveEnd(ctx context.Context) (int64, error)
	// NextEnd and NextActiveEnd are the next commits that move them.
	NextEnd() store.NextCommit
	NextActiveEnd() store.NextCommit
	// LedgerBegin is the offset after which the stream begins, 0 if it is whole.
	LedgerBegin(ctx context.Context) (int64, error)
	Updates
	// LedgerRun is LedgerUpdates for who goes through much of the stream. The caller must close
	// the run.
	LedgerRun(ctx context.Context, sel nodehistory.Selection, rg nodehistory.Range) (*nodehistory.Run, error)
	// LedgerUpdateByID and LedgerUpdateAt return nil when there is no such update.
	LedgerUpdateByID(ctx context.Context, id string) (*schemas.Update, error)
	LedgerUpdateAt(ctx context.Context, offset int64) (*schemas.Update, error)
	// LedgerActive reads a page of an active set.
	LedgerActive(ctx context.Context, q nodehistory.ActiveQuery) (nodehistory.ActivePage, error)
	// ContractEvents returns the events that created and ended a contract, nil for those
	// that there are not.
	ContractEvents(ctx context.Context, contractID string) (created, ended *nodehistory.Event, err error)
	// KnownTemplates are the templates of the stream, and with them the interfaces of which
	// choices were exercised on them.
	KnownTemplates(ctx context.Context) ([]nodehistory.Template, error)
	// SynchronizerTimes are the latest record times at or below an offset.
	SynchronizerTimes(ctx context.Context, offset int64) ([]nodehistory.SynchronizerTime, error)
}

// Updates reads updates; *history.Reader and *nodehistory.Pages do.
type Updates interface {
	// LedgerUpdates reads a part of a stretch that must not end above LedgerEnd.
	LedgerUpdates(ctx context.Context, sel nodehistory.Selection, rg nodehistory.Range) (nodehistory.Page, error)
}

// ErrNoStream says that the stream of a node is not there yet, or that it is not clear
// which one is meant.
var ErrNoStream = errors.New("there is no stream of a node")

// Node is a stream that is served.
type Node struct {
	// Participant is the node's id, such as "PAR::name::1220...".
	Participant string
	Source      Source
	// Lists reads updates for lists and pages, of which the same are asked for again and again;
	// Source does when it is nil. A websocket, which reads far and once, always reads runs from Source.
	Lists Updates
}
