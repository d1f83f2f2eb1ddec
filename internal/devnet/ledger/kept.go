package ledger

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// A kept ledger goes on where it was when New is called again with its folder. The journal
// has all that happened, in order: each entry is on disk before anybody sees what it brought
// about. So what readers were given is always executed again, to the byte, also after a kill
// at any moment; a last line that was cut off is something that nobody saw.
//
// The data files are written anew: they follow from the journal.

// Simulation is the version of what the ledger does with a journal. Raise it with every
// change of the history that a seed or a command gives: a journal of another version cannot
// be continued.
const Simulation = 5

var (
	// ErrOtherNetwork says that a folder has a kept ledger that another Config describes.
	ErrOtherNetwork = errors.New("the folder has another simulated network")
	// ErrOtherVersion says that a kept ledger was made by another version of the simulation.
	ErrOtherVersion = errors.New("the folder has a simulated network of another version of ledgerlake")
	// ErrInUse says that another process runs the kept ledger of a folder.
	ErrInUse  = errors.New("another process runs the simulated network")
	ErrClosed = errors.New("devnet is closed")
)

// Network says which network a kept ledger is of. All of it has an influence on history.
type Network struct {
	// ID is drawn at random when the ledger is made.
	ID              string          `json:"id"`
	Updates         int             `json:"updates"`
	Seed            uint64          `json:"seed"`
	Start           time.Time       `json:"start"`
	Days            int             `json:"days"`
	Synchronizers   int             `json:"synchronizers"`
	TrafficRewards  bool            `json:"trafficRewards,omitempty"`
	DelegatesSend   bool            `json:"delegatesSend,omitempty"` // from the start
	HugeUpdateBytes int             `json:"hugeUpdateBytes,omitempty"`
	Fund            model.FundRules `json:"fund,omitzero"`
}

// journalHeader is the first line of the journal of a kept ledger.
type journalHeader struct {
	Simulation int     `json:"simulation"`
	Network    Network `json:"network"`
}

// ReadNetwork returns the network that is kept in a folder, nil if there is none. It returns
// ErrOtherVersion if that cannot be continued.
func ReadNetwork(dir string) (*Network, error) {
	file, err := os.Open(filepath.Join(dir, JournalName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the simulated network: %w", err)
	}
	defer file.Close()
	n, _, err := readHeader(bufio.NewReader(file))
	return n, err
}

// readHeader reads the first line and returns its length. Without a whole line there is no
// network yet.
func readHeader(r *bufio.Reader) (*Network, int64, error) {
	line, err := r.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("reading the journal of devnet: %w", err)
	}
	var h journalHeader
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, 0, fmt.Errorf("reading the journal of devnet: %w", err)
	}
	if h.Simulation == 0 { // of a ledger that was not kept
		return nil, 0, nil
	}
	if h.Simulation != Simulation {
		return nil, 0, ErrOtherVersion
	}
	return &h.Network, int64(len(line)), nil
}

func networkOf(c *sim.Config) Network {
	return Network{ID: rand.Text(), Updates: c.Updates, Seed: c.Seed, Start: c.Start.UTC(), Days: c.Days, Synchronizers: c.Synchronizers,
		TrafficRewards: c.TrafficRewards, DelegatesSend: c.DelegatesSend, HugeUpdateBytes: c.HugeUpdateBytes, Fund: c.Fund}
}

// differs reports whether c describes another network. Start and DelegatesSend are what they
// were at first: the clock goes on whatever is asked for.
func (n *Network) differs(c *sim.Config) bool {
	return n.Updates != c.Updates || n.Seed != c.Seed || n.Days != c.Days || n.Synchronizers != c.Synchronizers ||
		n.TrafficRewards != c.TrafficRewards || n.HugeUpdateBytes != c.HugeUpdateBytes || n.Fund != c.Fund
}

// openKept locks the folder and opens its journal, or starts one. What the configuration
// leaves to the journal is taken from there.
func openKept(l *Ledger) error {
	lock := flock.New(filepath.Join(l.Config.Dir, "devnet.lock"))
	ctx, cancel := context.WithTimeout(context.Background(), maxLockWait)
	defer cancel()
	switch ok, err := lock.TryLockContext(ctx, 20*time.Millisecond); {
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("locking folder %s of devnet: %w", l.Config.Dir, err)
	case !ok:
		return fmt.Errorf("%w in %s", ErrInUse, l.Config.Dir)
	}
	l.lock = lock
	file, err := os.OpenFile(filepath.Join(l.Config.Dir, JournalName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("opening the journal of devnet: %w", err)
	}
	j := &l.Journal
	j.file, j.kept = file, true
	if err := readKept(l); err != nil {
		return err
	}
	if l.network != nil {
		return nil
	}
	n := networkOf(&l.Config)
	line, err := json.Marshal(journalHeader{Simulation, n})
	if err == nil {
		err = j.write(append(line, '\n'))
	}
	if err == nil {
		err = syncFolder(l.Config.Dir)
	}
	if err != nil {
		return fmt.Errorf("writing the journal of devnet: %w", err)
	}
	l.network, j.first = &n, j.size
	return nil
}

// maxLockWait is how long to wait for the lock: the threads of a killed owner end one by one.
const maxLockWait = 500 * time.Millisecond

// syncFolder has the name of a new file be on disk.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// readKept reads the journal of an earlier process, cuts off a last line that is not whole,
// and counts what there is to execute.
func readKept(l *Ledger) error {
	j := &l.Journal
	r := bufio.NewReader(j.file)
	n, size, err := readHeader(r)
	if err != nil {
		return err
	}
	if n == nil { // an empty file, or that of a ledger that was not kept
		return j.file.Truncate(0)
	}
	if n.differs(&l.Config) {
		return fmt.Errorf("%w: --updates %d --seed %d --days %d", ErrOtherNetwork, n.Updates, n.Seed, n.Days)
	}
	l.network, j.first = n, size
	l.Config.Start, l.Config.DelegatesSend = n.Start, n.DelegatesSend
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading the journal of devnet: %w", err)
		}
		var e JournalEntry
		if err := json.Unmarshal(line, &e); err != nil {
			if _, more := r.Peek(1); errors.Is(more, io.EOF) {
				break
			}
			return fmt.Errorf("%s is damaged at byte %d: %w", j.file.Name(), size, err)
		}
		size += int64(len(line))
		if e.fromOutside() {
			j.outside++
		}
		l.Kept.note(&e)
	}
	j.size = size
	return j.file.Truncate(size)
}

// kept is what a journal says besides what is to be executed.
type kept struct {
	updates   int    // about how many there are to execute besides the first ones
	genesis   string // "" if the first updates were never all executed
	node      string // "" if no participant's view was kept
	submitted bool   // whether anything came from the node's clients
	prepared  uint64
	Users     map[string]*KeptUser
	annotated []keptParty
	// completions are those of the submissions, in order.
	Completions []KeptSubmission
}

// note takes note of an entry when the journal is opened.
func (k *kept) note(e *JournalEntry) {
	k.updates += e.Run
	k.genesis, k.node = cmp.Or(k.genesis, e.Genesis), cmp.Or(k.node, e.Node)
	k.prepared = max(k.prepared, e.Prepared)
	switch {
	case e.Due:
		k.updates++
	case e.Submission != nil, e.Party != nil:
		k.updates++
		k.submitted = true
	case e.User != nil:
		if k.Users == nil {
			k.Users = map[string]*KeptUser{}
		}
		k.Users[e.User.ID] = e.User
	case e.Annotated != nil:
		k.annotated = append(k.annotated, *e.Annotated)
	}
}

// resume executes what the journal of a kept ledger has behind the first updates, which the
// caller has executed, and then turns on what is new.
func resume(l *Ledger, ctx context.Context, progress func(done, total int)) error {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if err := checkGenesis(l); err != nil {
		return err
	}
	r := &replayCourse{submitter: l.submitter, reader: l.Journal.read()}
	r.advance()
	for r.next != nil {
		var err error
		if r.next.bySimulation() {
			err = l.pipeline.follow(ctx, r, func(done int) {
				if progress != nil {
					progress(l.Config.Updates+r.done+done, l.Config.Updates+l.Kept.updates)
				}
			})
			l.Finals = append(l.Finals, r.finals...)
			r.finals = r.finals[:0]
		} else {
			err = repeat(l, ctx, r.next)
			r.advance()
		}
		if err != nil {
			return fmt.Errorf("continuing the simulated network of %s: %w", l.Config.Dir, err)
		}
		r.done = l.Executor.Tx.Updates - l.Config.Updates
	}
	if r.reader.err != nil {
		return r.reader.err
	}
	l.Commander.Prepared = l.Kept.prepared
	for _, p := range l.Kept.annotated {
		l.Parties.meta[p.Party] = PartyMeta{p.Version, p.Annotations}
	}
	l.Parties.journal = &l.Journal
	return turnOn(l)
}

// turnOn notes in the journal what this process adds to the network.
func turnOn(l *Ledger) error {
	if l.View != nil && l.Kept.node == "" {
		if err := l.Journal.Add(JournalEntry{Entries: l.Executor.Tx.Entries, Node: l.View.Member()}); err != nil {
			return err
		}
	}
	if l.delegates && !l.Executor.Config.DelegatesSend {
		if err := l.Journal.Add(JournalEntry{Entries: l.Executor.Tx.Entries, DelegatesSend: true}); err != nil {
			return err
		}
		l.Executor.Config.DelegatesSend = true
	}
	return nil
}

// checkGenesis compares the first updates with those of the earlier process, which gives
// away a simulation that was changed without a new version.
func checkGenesis(l *Ledger) error {
	digest, err := GenesisOf(l)
	switch {
	case err != nil:
		return err
	case l.Kept.genesis == "":
		return l.Journal.Add(JournalEntry{Entries: l.Executor.Tx.Entries, Genesis: digest})
	case l.Kept.genesis != digest:
		return ErrOtherVersion
	}
	return nil
}

// GenesisOf is a digest of the public history so far.
func GenesisOf(l *Ledger) (string, error) {
	digests := l.Store.Digests()
	raw, err := json.Marshal(digests.Export())
	if err != nil {
		return "", fmt.Errorf("digesting the simulated network: %w", err)
	}
	h := model.NewIDSpace(0, string(raw)).Hash(0)
	return fmt.Sprintf("%x", h[:16]), nil
}

// checkNode refuses to continue what a node's clients did as another node.
func checkNode(l *Ledger) error {
	if l.View != nil && l.Kept.node != "" && l.Kept.node != l.View.Member() {
		return fmt.Errorf("%w: its node is %s, not %s", ErrOtherNetwork, l.Kept.node, l.View.Member())
	}
	return nil
}

// bySimulation reports whether the entry is something that the network does by itself.
func (e *JournalEntry) bySimulation() bool {
	return !e.ofNode() && e.Submission == nil && e.Party == nil
}

// repeat executes again what came from the node's clients.
func repeat(l *Ledger, ctx context.Context, e *JournalEntry) error {
	if e.ofNode() {
		return nil // noted when the journal was opened
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if e.Entries != l.Executor.Tx.Entries {
		return fmt.Errorf("%w: at entry %d instead of %d", errDiverged, l.Executor.Tx.Entries, e.Entries)
	}
	b := l.Commander.batch
	b.Reset()
	if e.Party != nil {
		if p := l.Names.Add(model.AddedParty{Name: e.Name, Participant: e.Home, External: e.Key != nil}); p != *e.Party {
			return fmt.Errorf("%w: party %s", errDiverged, e.Name)
		}
		if e.Key != nil {
			l.Parties.setKey(e.Name, ed25519.PublicKey(bytes.Clone(e.Key)))
		}
	}
	if err := replay(l.submitter, b, e); err != nil {
		return err
	}
	if e.Completion != nil {
		l.Kept.Completions = append(l.Kept.Completions, KeptSubmission{e.Completion, e.Submission, l.committed(l.Executor.Tx.Current)})
	}
	return l.publish()
}

// replayCourse executes what the network did by itself, as the journal has it.
type replayCourse struct {
	submitter *choices.Submitter
	reader    *journalReader
	next      *JournalEntry // nil at the end
	done      int           // updates before the ones in work
	finals    []uint32      // see Ledger.finals
}

func (r *replayCourse) advance() { r.next = r.reader.entry() }

func (r *replayCourse) more() bool { return r.next != nil && r.next.bySimulation() }

// step does the next thing.
func (r *replayCourse) step(x *sim.Executor, b *sim.Batch) error {
	e := r.next
	if e.Run == 0 {
		if e.Entries != x.Tx.Entries {
			return fmt.Errorf("%w: at entry %d instead of %d", errDiverged, x.Tx.Entries, e.Entries)
		}
		r.advance()
		return replay(r.submitter, b, e)
	}
	if e.Run--; e.Run == 0 {
		r.advance()
		r.finals = append(r.finals, uint32(x.Tx.Updates+1))
		return x.Step(b, true)
	}
	return x.Step(b, false)
}
