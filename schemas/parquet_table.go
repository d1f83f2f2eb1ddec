package schemas

// ParquetTable is a table of the published objects. Each has a row type in this
// package whose tags give the Parquet schema (parquet) and the description that
// stands in the file's metadata (doc).
type ParquetTable string

const (
	// ParquetUpdates holds one row per transaction or reassignment: UpdateRow.
	ParquetUpdates ParquetTable = "updates"
	// ParquetEvents holds one row per node and one per reassignment: EventRow.
	ParquetEvents ParquetTable = "events"
	// ParquetACS holds the contracts active at a segment's start: ActiveContractRow.
	ParquetACS ParquetTable = "acs"
	// ParquetVerdicts holds one row per verdict: VerdictRow.
	ParquetVerdicts ParquetTable = "verdicts"
	// ParquetTraffic holds one row per traffic summary: TrafficRow.
	ParquetTraffic ParquetTable = "traffic"
	// ParquetAppActivity holds one row per app activity record: AppActivityRow.
	ParquetAppActivity ParquetTable = "app_activity"
	// ParquetImports holds one row per import update: ImportRow.
	ParquetImports ParquetTable = "imports"
	// ParquetMovements holds one row per change of a party's holdings: MovementRow.
	ParquetMovements ParquetTable = "movements"
)

// SortKey lists the columns by which rows ascend. No two rows of a migration have
// the same key. Texts compare by their bytes.
func (t ParquetTable) SortKey() []string {
	switch t {
	case ParquetEvents:
		return []string{"record_time", "update_id", "node"}
	case ParquetACS:
		return []string{"created_at", "contract_id"}
	case ParquetImports:
		return []string{"update_id"}
	case ParquetMovements:
		return []string{"record_time", "update_id", "entry"}
	}
	return []string{"record_time", "update_id"}
}

// BloomColumns lists the columns that have a Bloom filter in every row group.
func (t ParquetTable) BloomColumns() []string {
	switch t {
	case ParquetEvents, ParquetImports:
		return []string{"update_id", "contract_id"}
	case ParquetACS:
		return []string{"contract_id"}
	case ParquetMovements:
		return []string{"update_id", "party"}
	}
	return []string{"update_id"}
}

// RowKey is a row's sort key in one type for all tables: (Time, ID, Node) ascends.
type RowKey struct {
	// Time is the record time, or created_at for active contracts; 0 for imports.
	Time Micros
	// ID is the update id, or the contract id for active contracts.
	ID string
	// Node is the entry of movements, and else 0 but for events.
	Node int32
}

// rowOverhead is what a row counts beside its texts, in bytes: about its numbers.
const rowOverhead = 64

func textBytes(lists ...[]string) int {
	n := 0
	for _, list := range lists {
		for _, s := range list {
			n += len(s) + 4
		}
	}
	return n
}

func pointer[T any](v T) *T { return &v }

func valueOr[T any](p *T, none T) T {
	if p == nil {
		return none
	}
	return *p
}

// listOrNil makes no difference between an empty list and none, as JSON does not.
func listOrNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}
