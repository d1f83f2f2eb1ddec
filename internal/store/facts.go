package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

// Facts are rows of table network_facts.
type Facts struct {
	stream, operation, upstream *lowCardinality
	arguments, sha256, body     texts
	validFrom, fetchedAt        *proto.ColDateTime64
}

// NewFacts returns a block without rows.
func NewFacts() *Facts {
	return &Facts{
		stream: newLowCardinality(), operation: newLowCardinality(), upstream: newLowCardinality(),
		validFrom: newTime(), fetchedAt: newTime(),
	}
}

func (b *Facts) columns() []column {
	return []column{
		{"stream", b.stream}, {"operation", b.operation}, {"arguments", &b.arguments}, {"valid_from", b.validFrom},
		{"fetched_at", b.fetchedAt}, {"upstream", b.upstream}, {"sha256", &b.sha256}, {"body", &b.body},
	}
}

// Rows returns the number of rows.
func (b *Facts) Rows() int { return b.arguments.Rows() }

// Append adds f.
func (b *Facts) Append(stream string, f *facts.Fact) {
	b.stream.Append(stream)
	b.operation.Append(string(f.Operation))
	b.arguments.Append(f.Arguments)
	appendTime(b.validFrom, f.ValidFrom)
	appendTime(b.fetchedAt, f.FetchedAt)
	b.upstream.Append(f.Upstream)
	b.sha256.Append(f.SHA256())
	b.body.AppendBytes(f.Body)
}

// AppendTo appends the block's rows to list.
func (b *Facts) AppendTo(list []facts.Fact) []facts.Fact {
	arguments, body := stringsOf(&b.arguments), bytesOf(&b.body)
	for i := range b.Rows() {
		list = append(list, facts.Fact{
			Key:       facts.Key{Operation: facts.Operation(b.operation.Row(i)), Arguments: arguments(i)},
			ValidFrom: timeAt(b.validFrom, i), FetchedAt: timeAt(b.fetchedAt, i), Upstream: b.upstream.Row(i), Body: body(i),
		})
	}
	return list
}
