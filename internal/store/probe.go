package store

import "github.com/ClickHouse/ch-go/proto"

// Probe is a result row of a text and a list of texts, for checks of the connection
// and of parameter binding.
type Probe struct {
	text proto.ColStr
	list *proto.ColArr[string]
}

// NewProbe returns a block without rows.
func NewProbe() *Probe { return &Probe{list: proto.NewArray[string](new(proto.ColStr))} }

func (b *Probe) columns() []column { return []column{{"text", &b.text}, {"list", b.list}} }

// Rows returns the number of rows.
func (b *Probe) Rows() int { return b.text.Rows() }

// Row returns the first row.
func (b *Probe) Row() (string, []string) { return b.text.Row(0), b.list.Row(0) }
