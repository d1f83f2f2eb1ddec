package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// Config describes a ledger. Everything but Node, Dir and SkipCompact has an influence
// on public history; equal values give an equal history, to the byte.
type Config struct {
	// Updates is the number of updates (transactions and reassignments, without
	// import updates) that New executes. At least 1.
	Updates int
	// Seed selects the history.
	Seed uint64
	// Start is the record time after which history begins; 2026-07-01T00:00:00Z
	// when zero.
	Start time.Time
	// Days is the time over which Updates are spread; 8 when zero.
	Days int
	// Synchronizers is 1 or 2; 2 when zero. With 2, some contracts of the
	// third-party app are reassigned between them.
	Synchronizers int
	// TrafficRewards has apps be rewarded by the traffic of their transactions from the
	// second half of the history on, in place of coupons for transfers.
	TrafficRewards bool
	// DelegatesSend leaves transfer commands to their delegates where these act by commands,
	// as a real network does. Without it the network carries them out by itself.
	DelegatesSend bool
	// Fund are rules of the development fund. Where there are any, the simulated users leave it alone.
	Fund model.FundRules
	// HugeUpdateBytes, if positive, makes one update in the middle of the history
	// carry a text of that many bytes.
	HugeUpdateBytes int

	// Node, if not nil, has the ledger keep what a participant sees as well, private
	// transactions included, to be served by NodeHandler.
	Node *NodeConfig

	// Dir receives the data files; a temporary folder, removed by Close, when empty.
	Dir string
	// Keep has the ledger go on where it was when New is called again with the same Dir, which
	// it needs: everything that happens to it is kept there, and on disk before it is visible.
	// Start then only matters the first time, and DelegatesSend once set holds for good.
	Keep bool
	// SkipCompact leaves out the compact_json copy of the history, which halves the
	// disk space. Requests for that encoding are then answered with status 501.
	SkipCompact bool
}

// WithDefaults fills in zero members, and checks all.
func (c Config) WithDefaults() (Config, error) {
	if c.Start.IsZero() {
		c.Start = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	}
	if c.Days == 0 {
		c.Days = 8
	}
	if c.Synchronizers == 0 {
		c.Synchronizers = 2
	}
	switch {
	case c.Updates < 1:
		return c, fmt.Errorf("devnet needs at least 1 update, not %d", c.Updates)
	case c.Updates > MaxUpdates:
		return c, fmt.Errorf("devnet holds at most %d updates, not %d", MaxUpdates, c.Updates)
	case c.Days < 1 || c.Days > 365:
		return c, fmt.Errorf("devnet spreads its updates over 1 to 365 days, not %d", c.Days)
	case c.Synchronizers < 1 || c.Synchronizers > 2:
		return c, fmt.Errorf("devnet has 1 or 2 synchronizers, not %d", c.Synchronizers)
	case c.Keep && c.Dir == "":
		return c, errors.New("devnet needs a folder")
	case c.HugeUpdateBytes < 0:
		return c, fmt.Errorf("devnet cannot write a text of %d bytes", c.HugeUpdateBytes)
	}
	return c, nil
}

// MaxUpdates keeps entry numbers within 32 bits and record times apart.
const MaxUpdates = 1 << 30

const (
	// SwitchPercent is the share of the updates that belongs to migration 0.
	SwitchPercent = 45
	// UpdatesPerRound bounds the number of rounds: at least so many updates each.
	UpdatesPerRound = 50
	// minTick is the tick of the main network.
	minTick = 10 * time.Minute
)

// Tick is the time between two mining rounds.
func (c Config) Tick() time.Duration {
	span := time.Duration(c.Days) * 24 * time.Hour
	t := span / time.Duration(c.Updates) * (UpdatesPerRound + 10)
	return max(minTick, t.Truncate(time.Second))
}

// gap is the mean time between two updates.
func (c Config) gap() time.Duration {
	return time.Duration(c.Days) * 24 * time.Hour / time.Duration(c.Updates)
}

// NodeConfig asks for the ledger as one participant sees it: all that its parties are
// informed of, public or private, and nothing else. See Ledger.NodeHandler.
type NodeConfig struct {
	// Participant is the node: its uid, or the part of it before "::" with or without
	// "participant-", such as "validator-2" or "Super-Validator-1". The busiest validator
	// when empty. Super-validators host the governance party, so they see all public
	// history; a validator hosts its operator, some users and perhaps an app.
	Participant string
	// MigrationID is the one under which a client of the node files what it reads: the
	// node's own stream names none. It only has an influence on NodeDigests.
	MigrationID int64
}
