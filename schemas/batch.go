package schemas

// ScanStream is the stream of public history: what the governance party sees.
const ScanStream = "scan"

// Batch is a run of consecutive items of one stream: all that the stream holds
// after After and up to and including Through.
type Batch struct {
	Stream string
	// After is exclusive, Through inclusive. Through may lie beyond the last item.
	After, Through Position
	// Items are in history order, either all imports or none.
	Items []Item
}

// Hash identifies the content of the batch's items: their ContentHash. Two fetches of the
// same range give the same hash unless the upstream changed its history. It guards against
// accidents, and compares what is in memory; the journal has the hash of a batch's rows, and
// what is compared with others uses Digest, which is cryptographic.
func (b *Batch) Hash() string {
	var c ContentHash
	for i := range b.Items {
		c.Add(&b.Items[i])
	}
	return c.Sum()
}

// Intent is a batch that was announced to the store and perhaps written in part.
// Whoever resumes the stream fetches (After, Through] again and writes it first.
type Intent struct {
	Sequence       int64
	After, Through Position
	Items          int
	Hash           string
}

// Resume says where a stream stands in the store.
type Resume struct {
	// Committed is the stream's watermark: everything at or below it is complete.
	// It is Start for a stream without history.
	Committed Position
	// Pending is the batch to repeat before any other, or nil.
	Pending *Intent
}
