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
