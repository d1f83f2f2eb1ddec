package simulated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

// The simulated network is kept in DATA/devnet and continues at the next start. A store holds
// the history of one network only, so a start that would mix two is refused before anything is
// written: another simulated network, or a real one in place of it and the other way round.

// Folder is where the simulated network of a data folder is kept.
type Folder struct{ Settings *settings.Config }

func (f Folder) path() string { return filepath.Join(f.Settings.Data, "devnet") }

// resetHint says how to start over.
func (f Folder) resetHint() string {
	return fmt.Sprintf("use another --data folder, or delete this one with: ledgerlake reset --yes --data %s", f.Settings.Data)
}

// Continue has d describe the network that is kept in the data folder, if there is one.
// A flag that was given and says otherwise is an error.
func (f Folder) Continue(d *Network) error {
	kept, err := devnet.ReadNetwork(f.path())
	if errors.Is(err, devnet.ErrOtherVersion) {
		return fmt.Errorf("%s has a simulated network of another version of ledgerlake: %s", f.Settings.Data, f.resetHint())
	}
	if err != nil || kept == nil {
		return err
	}
	d.kept = true
	var was, is []string
	adopt(d.Given, "updates", &d.Updates, kept.Updates, &was, &is)
	adopt(d.Given, "seed", &d.Seed, kept.Seed, &was, &is)
	adopt(d.Given, "days", &d.Days, kept.Days, &was, &is)
	adopt(d.Given, "huge-update-bytes", &d.HugeUpdateBytes, kept.HugeUpdateBytes, &was, &is)
	adopt(d.Given, "traffic-rewards", &d.TrafficRewards, kept.TrafficRewards, &was, &is)
	if len(was) > 0 {
		return fmt.Errorf("%s has a simulated network with %s, not %s: leave that out to continue it, %s",
			f.Settings.Data, strings.Join(was, " "), strings.Join(is, " "), f.resetHint())
	}
	return nil
}

// adopt sets a flag that was not given to what the network was made with, and notes one that
// was given otherwise.
func adopt[T int | uint64 | bool](given func(string) bool, name string, flag *T, kept T, was, is *[]string) {
	if *flag == kept {
		return
	}
	if given(name) {
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

func (f Folder) ingestedPath() string { return filepath.Join(f.path(), "store.json") }

// storeName names the store: an embedded one belongs to the data folder.
func (f Folder) storeName() string {
	if f.Settings.ClickHouseDSN == "" {
		return "embedded"
	}
	return settings.MaskURL(f.Settings.ClickHouseDSN)
}

// ingested returns what is known of the network whose history the configured store has. It is the
// zero value if that is not known to be a simulated one.
func (f Folder) ingested() (note ingestedNetwork, err error) {
	raw, err := os.ReadFile(f.ingestedPath())
	if errors.Is(err, os.ErrNotExist) {
		return note, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &note)
	}
	if err != nil {
		return note, fmt.Errorf("reading %s: %w; %s", f.ingestedPath(), err, f.resetHint())
	}
	if note.Store != f.storeName() {
		return ingestedNetwork{}, nil
	}
	return note, nil
}

// KeepClock refuses to stop a clock that a network has followed: its time would stand still before
// what is stored already.
func (f Folder) KeepClock(d *Network, out io.Writer) error {
	note, err := f.ingested()
	if err != nil || !note.LiveClock || d.LiveClock {
		return err
	}
	if d.Given("live-clock") {
		return fmt.Errorf("the simulated network in %s runs on the wall clock permanently: leave out --live-clock=false, or %s", f.Settings.Data, f.resetHint())
	}
	fmt.Fprintln(out, "The simulated network runs on the wall clock because it was once started with --live-clock.")
	return nil
}

// RefuseSimulated returns an error if the store has the history of a simulated network, for
// commands that are about to read another one into it.
func (f Folder) RefuseSimulated() error {
	note, err := f.ingested()
	if err != nil || note.Network == "" {
		return err
	}
	return fmt.Errorf("%s has the history of a simulated network: leave out --scan-url and --node-url to continue it, %s", f.Settings.Data, f.resetHint())
}

// RefuseForeign returns an error if the store has history of anything but the network that is
// kept in the data folder.
func (f Folder) RefuseForeign(ctx context.Context, db *store.DB) error {
	note, err := f.ingested()
	if err != nil {
		return err
	}
	kept, err := devnet.ReadNetwork(f.path())
	if err != nil {
		return err
	}
	if note.Network != "" && kept != nil && kept.ID == note.Network {
		return nil
	}
	streams, err := journal.Streams(ctx, db)
	if err != nil {
		return err
	}
	for _, stream := range streams {
		if stream.Batches > 0 {
			return fmt.Errorf("%s already has history that is not from a simulated network: give the --scan-url or --node-url that it came from, %s",
				f.Settings.Data, f.resetHint())
		}
	}
	return nil
}

// NoteIngested records that the store gets the history of a simulated network, before it gets
// any.
func (f Folder) NoteIngested(n *Node) error {
	raw, err := json.Marshal(ingestedNetwork{n.Ledger.Network().ID, f.storeName(), n.Clock})
	if err == nil {
		path := f.ingestedPath()
		if err = os.WriteFile(path+".new", append(raw, '\n'), 0o644); err == nil {
			err = os.Rename(path+".new", path)
		}
	}
	if err != nil {
		return fmt.Errorf("recording which network is ingested: %w", err)
	}
	return nil
}
