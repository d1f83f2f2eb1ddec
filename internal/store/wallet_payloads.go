package store

import "github.com/ledgerlake/ledgerlake/schemas"

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
