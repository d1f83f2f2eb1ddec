package store

import (
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// ActiveWalletContracts are result rows over table wallet_contracts with the columns that lists
// need: each one more costs time to read. Signatories, observers, CreatedIn, Party and the
// lookup key are not among them.
type ActiveWalletContracts struct {
	createdAt, expiresAt                              *proto.ColDateTime64
	contractID, blob                                  texts
	templateID, encoding, template, synchronizer, own *lowCardinality
	argument                                          packed
	offset, round                                     proto.ColInt64
	amount, rate                                      proto.ColDecimal128
	lockHolders                                       *proto.ColArr[string]
}

// NewActiveWalletContracts returns a block without rows.
func NewActiveWalletContracts() *ActiveWalletContracts {
	return &ActiveWalletContracts{
		createdAt: newTime(), expiresAt: newTime(), templateID: newLowCardinality(), encoding: newLowCardinality(),
		template: newLowCardinality(), synchronizer: newLowCardinality(), own: newLowCardinality(), argument: newPacked("argument"),
		lockHolders: newParties(),
	}
}

func (b *ActiveWalletContracts) columns() []column {
	return append(b.argument.columns(),
		column{"created_at", b.createdAt}, column{"contract_id", &b.contractID}, column{"template_id", b.templateID},
		column{"encoding", b.encoding}, column{"template", b.template}, column{"node_offset", &b.offset},
		column{"synchronizer_id", b.synchronizer}, column{"blob", &b.blob}, column{"owner", b.own}, column{"amount", decimals(&b.amount)},
		column{"rate", decimals(&b.rate)}, column{"round", &b.round}, column{"expires_at", b.expiresAt}, column{"lock_holders", b.lockHolders})
}

// Rows returns the number of rows.
func (b *ActiveWalletContracts) Rows() int { return b.contractID.Rows() }

// AppendTo appends the block's rows to list.
func (b *ActiveWalletContracts) AppendTo(list []WalletContract) []WalletContract {
	contractID, blob, argument := stringsOf(&b.contractID), stringsOf(&b.blob), b.argument.rows()
	_, holders := partiesOf(b.lockHolders, nil)
	for i := range b.Rows() {
		template := b.template.Row(i)
		packageName, _, _ := strings.Cut(template, ":")
		list = append(list, WalletContract{
			ContractRow: ContractRow{
				Event: schemas.Event{
					Kind: schemas.Created, ContractID: contractID(i), TemplateID: b.templateID.Row(i), PackageName: packageName,
					Argument: argument(i), CreatedAt: timeAt(b.createdAt, i),
				},
				Encoding: schemas.Encoding(b.encoding.Row(i)),
			},
			Template: template, SynchronizerID: b.synchronizer.Row(i), Offset: b.offset.Row(i), Blob: blob(i),
			WalletTerms: WalletTerms{
				Owner: b.own.Row(i), Amount: decimalOf(b.amount[i]), Rate: decimalOf(b.rate[i]), Round: b.round.Row(i),
				ExpiresAt: timeAt(b.expiresAt, i), LockHolders: holders(i),
			},
		})
	}
	return list
}

// WalletPayload is what a contract was created with.
type WalletPayload struct {
	ContractID, PackageName, TemplateID string
	Encoding                            schemas.Encoding
	Argument                            []byte
}

// WalletPayloads are result rows over creates.
type WalletPayloads struct {
	contractID, argument            texts
	encoding, packageName, template *lowCardinality
}

// NewWalletPayloads returns a block without rows.
func NewWalletPayloads() *WalletPayloads {
	return &WalletPayloads{encoding: newLowCardinality(), packageName: newLowCardinality(), template: newLowCardinality()}
}

func (b *WalletPayloads) columns() []column {
	return []column{
		{"contract_id", &b.contractID}, {"argument", &b.argument}, {"encoding", b.encoding}, {"package_name", b.packageName}, {"template_id", b.template},
	}
}

// Rows returns the number of rows.
func (b *WalletPayloads) Rows() int { return b.contractID.Rows() }

// AppendTo appends the block's rows to list.
func (b *WalletPayloads) AppendTo(list []WalletPayload) []WalletPayload {
	contractID, argument := stringsOf(&b.contractID), bytesOf(&b.argument)
	for i := range b.Rows() {
		list = append(list, WalletPayload{
			ContractID: contractID(i), PackageName: b.packageName.Row(i), TemplateID: b.template.Row(i),
			Encoding: schemas.Encoding(b.encoding.Row(i)), Argument: argument(i),
		})
	}
	return list
}
