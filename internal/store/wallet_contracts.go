package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// WalletContract is a row of table wallet_contracts: a contract that becomes active for a
// party of the node, or, with Ended, no longer is.
type WalletContract struct {
	ContractRow
	Party, Template, SynchronizerID string
	// Offset is where the contract became active, or ended.
	Offset int64
	Ended  bool
	WalletTerms
	// Blob lets others use the contract; "" if the node did not tell it.
	Blob string
}

// WalletTerms is what is taken out of a payload.
type WalletTerms struct {
	// LookupKey is the text by which contracts of the template are looked up, else "".
	LookupKey string
	// Owner, Amount, Rate (a coin's holding fee a round) and LockHolders are those of a
	// holding; Amount is also that of a coupon. Owner is "" for what is no holding.
	Owner        string
	Amount, Rate decimal.Decimal
	// Round is that of a coin's creation or of a coupon, -1 for none.
	Round int64
	// ExpiresAt is the end of a lock, an offer or whatever else the contract is, NeverArchived
	// if it has none.
	ExpiresAt   schemas.Micros
	LockHolders []string
}

// WalletContracts are rows of table wallet_contracts.
type WalletContracts struct {
	Contracts
	stream, party, template, synchronizer, owner *lowCardinality
	offset, round                                proto.ColInt64
	ended                                        proto.ColBool
	blob, lookupKey                              texts
	amount, rate                                 proto.ColDecimal128
	expiresAt                                    *proto.ColDateTime64
	lockHolders                                  *proto.ColArr[string]
}

// NewWalletContracts returns a block without rows.
func NewWalletContracts() *WalletContracts {
	return &WalletContracts{
		Contracts: *NewContracts(), stream: newLowCardinality(), party: newLowCardinality(), template: newLowCardinality(),
		synchronizer: newLowCardinality(), owner: newLowCardinality(), expiresAt: newTime(), lockHolders: newParties(),
	}
}

func (b *WalletContracts) columns() []column {
	return append(b.Contracts.columns(),
		column{"stream", b.stream}, column{"party", b.party}, column{"template", b.template}, column{"node_offset", &b.offset},
		column{"ended", &b.ended}, column{"synchronizer_id", b.synchronizer}, column{"blob", &b.blob}, column{"lookup_key", &b.lookupKey},
		column{"owner", b.owner}, column{"amount", decimals(&b.amount)}, column{"rate", decimals(&b.rate)}, column{"round", &b.round},
		column{"expires_at", b.expiresAt}, column{"lock_holders", b.lockHolders})
}

// Append adds c.
func (b *WalletContracts) Append(stream string, c *WalletContract) {
	b.Contracts.append(&c.ContractRow)
	b.stream.Append(stream)
	b.party.Append(c.Party)
	b.template.Append(c.Template)
	b.offset.Append(c.Offset)
	b.ended.Append(c.Ended)
	b.synchronizer.Append(c.SynchronizerID)
	b.blob.Append(c.Blob)
	b.lookupKey.Append(c.LookupKey)
	b.owner.Append(c.Owner)
	b.amount.Append(decimal128(c.Amount))
	b.rate.Append(decimal128(c.Rate))
	b.round.Append(c.Round)
	appendTime(b.expiresAt, c.ExpiresAt)
	b.lockHolders.Append(c.LockHolders)
}

// AppendTo appends the block's rows to list.
func (b *WalletContracts) AppendTo(list []WalletContract) []WalletContract {
	blob, key := stringsOf(&b.blob), stringsOf(&b.lookupKey)
	_, holders := partiesOf(b.lockHolders, nil)
	for i, row := range b.Contracts.AppendTo(make([]ContractRow, 0, b.Rows())) {
		list = append(list, WalletContract{
			ContractRow: row, Party: b.party.Row(i), Template: b.template.Row(i), SynchronizerID: b.synchronizer.Row(i),
			Offset: b.offset.Row(i), Ended: b.ended.Row(i), Blob: blob(i),
			WalletTerms: WalletTerms{
				LookupKey: key(i), Owner: b.owner.Row(i), Amount: decimalOf(b.amount[i]), Rate: decimalOf(b.rate[i]),
				Round: b.round.Row(i), ExpiresAt: timeAt(b.expiresAt, i), LockHolders: holders(i),
			},
		})
	}
	return list
}

// WalletHolding is what sums over holdings need.
type WalletHolding struct {
	Template     string
	Amount, Rate decimal.Decimal
	Round        int64
}

// WalletHoldings are result rows over the holdings of a party.
type WalletHoldings struct {
	template     *lowCardinality
	amount, rate proto.ColDecimal128
	round        proto.ColInt64
}

// NewWalletHoldings returns a block without rows.
func NewWalletHoldings() *WalletHoldings { return &WalletHoldings{template: newLowCardinality()} }

func (b *WalletHoldings) columns() []column {
	return []column{{"template", b.template}, {"amount", decimals(&b.amount)}, {"rate", decimals(&b.rate)}, {"round", &b.round}}
}

// Rows returns the number of rows.
func (b *WalletHoldings) Rows() int { return b.round.Rows() }

// Each calls so with every row.
func (b *WalletHoldings) Each(so func(WalletHolding)) {
	for i := range b.Rows() {
		so(WalletHolding{b.template.Row(i), decimalOf(b.amount[i]), decimalOf(b.rate[i]), b.round.Row(i)})
	}
}
