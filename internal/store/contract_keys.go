package store

import (
	"cmp"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// ContractKey is the place of a contract in the order of an active set, which is that of
// creation times and contract ids. The zero value stands before all.
type ContractKey struct {
	CreatedAt  schemas.Micros
	ContractID string
}

// Compare returns -1, 0 or 1 as k stands before, at or after other.
func (k ContractKey) Compare(other ContractKey) int {
	return cmp.Or(cmp.Compare(k.CreatedAt, other.CreatedAt), strings.Compare(k.ContractID, other.ContractID))
}

// ContractKeys are result rows: created_at, contract_id.
type ContractKeys struct {
	createdAt  *proto.ColDateTime64
	contractID proto.ColStr
}

// NewContractKeys returns a block without rows.
func NewContractKeys() *ContractKeys { return &ContractKeys{createdAt: newTime()} }

func (b *ContractKeys) columns() []column {
	return []column{{"created_at", b.createdAt}, {"contract_id", &b.contractID}}
}

// Rows returns the number of rows.
func (b *ContractKeys) Rows() int { return b.contractID.Rows() }

// AppendTo appends the block's rows to list.
func (b *ContractKeys) AppendTo(list []ContractKey) []ContractKey {
	for i := range b.Rows() {
		list = append(list, ContractKey{timeAt(b.createdAt, i), b.contractID.Row(i)})
	}
	return list
}

// LedgerKey says where a lifetime of a node's own stream stands and how it began.
type LedgerKey struct {
	CreatedAt  schemas.Micros
	ContractID string
	// Carried says that the stream began with the contract.
	Carried        bool
	SynchronizerID string
	// CreatedOffset and ArchivedOffset are where it began and ended, 0 for not ended.
	CreatedOffset, ArchivedOffset int64
}

// LedgerKeys are result rows over the lifetimes of a node's own stream.
type LedgerKeys struct {
	createdAt, createdTime        *proto.ColDateTime64
	contractID                    proto.ColStr
	synchronizer                  *lowCardinality
	createdOffset, archivedOffset proto.ColInt64
}

// NewLedgerKeys returns a block without rows.
func NewLedgerKeys() *LedgerKeys {
	return &LedgerKeys{createdAt: newTime(), createdTime: newTime(), synchronizer: newLowCardinality()}
}

func (b *LedgerKeys) columns() []column {
	return []column{
		{"created_at", b.createdAt}, {"contract_id", &b.contractID}, {"created_time", b.createdTime},
		{"synchronizer_id", b.synchronizer}, {"created_offset", &b.createdOffset}, {"archived_offset", &b.archivedOffset},
	}
}

// Rows returns the number of rows.
func (b *LedgerKeys) Rows() int { return b.contractID.Rows() }

// AppendTo appends the block's rows to list.
func (b *LedgerKeys) AppendTo(list []LedgerKey) []LedgerKey {
	for i := range b.Rows() {
		list = append(list, LedgerKey{
			CreatedAt: timeAt(b.createdAt, i), ContractID: b.contractID.Row(i), Carried: timeAt(b.createdTime, i) == BeforeHistory,
			SynchronizerID: b.synchronizer.Row(i), CreatedOffset: b.createdOffset.Row(i), ArchivedOffset: b.archivedOffset.Row(i),
		})
	}
	return list
}

// LedgerTemplate is a template of which a stream has events, and an interface of which a
// choice was exercised on it, "" for the template alone.
type LedgerTemplate struct {
	PackageName string `column:"package_name,low"`
	TemplateID  string `column:"template_id,low"`
	InterfaceID string `column:"interface_id,low"`
}
