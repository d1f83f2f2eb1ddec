package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/history/journal"
)

// The simulated network is kept in DATA/devnet and continues at the next start. A store holds
// the history of one network only, so a start that would mix two is refused before anything is
// written: another simulated network, or a real one in place of it and the other way round.

func (a *app) networkFolder() string { return filepath.Join(a.cfg.Data, "devnet") }

// resetHint says how to start over.
func (a *app) resetHint() string {
	return fmt.Sprintf("use another --data folder, or delete this one with: ledgerlake reset --yes --data %s", a.cfg.Data)
}

// continueNetwork has d describe the network that is kept in the data folder, if there is one.
// A flag that was given and says otherwise is an error.
func (a *app) continueNetwork(d *devnetFlags, flags *pflag.FlagSet) error {
	kept, err := devnet.ReadNetwork(a.networkFolder())
	if errors.Is(err, devnet.ErrOtherVersion) {
		return fmt.Errorf("%s has a simulated network of another version of ledgerlake: %s", a.cfg.Data, a.resetHint())
	}
	if err != nil || kept == nil {
		return err
	}
	d.kept = true
	var was, is []string
	adopt(flags, "updates", &d.updates, kept.Updates, &was, &is)
	adopt(flags, "seed", &d.seed, kept.Seed, &was, &is)
	adopt(flags, "days", &d.days, kept.Days, &was, &is)
	adopt(flags, "huge-update-bytes", &d.huge, kept.HugeUpdateBytes, &was, &is)
	adopt(flags, "traffic-rewards", &d.traffic, kept.TrafficRewards, &was, &is)
	if len(was) > 0 {
		return fmt.Errorf("%s has a simulated network with %s, not %s: leave that out to continue it, %s",
			a.cfg.Data, strings.Join(was, " "), strings.Join(is, " "), a.resetHint())
	}
	return nil
}

// adopt sets a flag that was not given to what the network was made with, and notes one that
// was given otherwise.
func adopt[T int | uint64 | bool](flags *pflag.FlagSet, name string, flag *T, kept T, was, is *[]string) {
	if *flag == kept {
		return
	}
	if flags.Changed(name) {
		*was, *is = append(*was, fmt.Sprintf("--%s=%v", name, kept)), append(*is, fmt.Sprintf("--%s=%v", name, *flag))
		return
	}
	*flag = kept
}

// ingestedNetwork is the content of DATA/devnet/store.json: which store has the history of
// which simulated network.
type ingestedNetwork struct {
	Network string `json:"network"`
	Store   string `json:"store"`
	// LiveClock says that the network's time has been that of the wall clock, and stays so.
	LiveClock bool `json:"live_clock,omitempty"`
}

func (a *app) ingestedPath() string { return filepath.Join(a.networkFolder(), "store.json") }

// storeName names the store: an embedded one belongs to the data folder.
func (a *app) storeName() string {
	if a.cfg.ClickHouseDSN == "" {
		return "embedded"
	}
	return settings.MaskURL(a.cfg.ClickHouseDSN)
}

// ingested returns what is known of the network whose history the configured store has. It is the
// zero value if that is not known to be a simulated one.
func (a *app) ingested() (note ingestedNetwork, err error) {
	raw, err := os.ReadFile(a.ingestedPath())
	if errors.Is(err, os.ErrNotExist) {
		return note, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &note)
	}
	if err != nil {
		return note, fmt.Errorf("reading %s: %w; %s", a.ingestedPath(), err, a.resetHint())
	}
	if note.Store != a.storeName() {
		return ingestedNetwork{}, nil
	}
	return note, nil
}

// keepClock refuses to stop a clock that a network has followed: its time would stand still before
// what is stored already.
func (a *app) keepClock(d *devnetFlags, flags *pflag.FlagSet) error {
	note, err := a.ingested()
	if err != nil || !note.LiveClock || d.clock {
		return err
	}
	if flags.Changed("live-clock") {
		return fmt.Errorf("the time of the simulated network in %s is that of the wall clock for good: leave out --live-clock=false, or %s", a.cfg.Data, a.resetHint())
	}
	fmt.Fprintln(a.stdout, "The simulated network's time is that of the wall clock since --live-clock was given once.")
	return nil
}

// refuseSimulated returns an error if the store has the history of a simulated network, for
// commands that are about to read another one into it.
func (a *app) refuseSimulated() error {
	note, err := a.ingested()
	if err != nil || note.Network == "" {
		return err
	}
	return fmt.Errorf("%s has the history of a simulated network: leave out --scan-url and --node-url to continue it, %s", a.cfg.Data, a.resetHint())
}

// refuseForeign returns an error if the store has history of anything but the network that is
// kept in the data folder.
func (s *stack) refuseForeign(ctx context.Context) error {
	note, err := s.app.ingested()
	if err != nil {
		return err
	}
	kept, err := devnet.ReadNetwork(s.app.networkFolder())
	if err != nil {
		return err
	}
	if note.Network != "" && kept != nil && kept.ID == note.Network {
		return nil
	}
	streams, err := journal.Streams(ctx, s.db)
	if err != nil {
		return err
	}
	for _, stream := range streams {
		if stream.Batches > 0 {
			return fmt.Errorf("%s already has history, and not that of its simulated network: give the --scan-url or --node-url that it came from, %s",
				s.app.cfg.Data, s.app.resetHint())
		}
	}
	return nil
}

// noteIngested records that the store gets the history of a simulated network, before it gets
// any.
func (a *app) noteIngested(n *devnetNode) error {
	raw, err := json.Marshal(ingestedNetwork{n.ledger.Network().ID, a.storeName(), n.clock})
	if err == nil {
		path := a.ingestedPath()
		if err = os.WriteFile(path+".new", append(raw, '\n'), 0o644); err == nil {
			err = os.Rename(path+".new", path)
		}
	}
	if err != nil {
		return fmt.Errorf("noting which network is ingested: %w", err)
	}
	return nil
}
