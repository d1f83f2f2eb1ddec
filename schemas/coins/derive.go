package coins

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Deriver derives movements. It may be used by one goroutine at a time.
type Deriver struct {
	u         *Update
	frame     []int // index of the innermost frame around each event, itself included, -1 for none
	transient bool  // the governance party keeps none of the coins that it gets
	movements []Movement
	done      []bool // by event: it is told of as a part of its frame
	entries   []RoundEntry
}

// Update returns the movements of an update, which are valid until the next call.
func (d *Deriver) Update(u *Update) []Movement {
	d.u, d.movements = u, d.movements[:0]
	if u.Opening {
		d.opening()
		return d.number()
	}
	d.findFrames()
	if u.Local {
		d.leaveUnclear()
	}
	d.findTransient()
	d.noteRepeats()
	d.explain()
	if u.Local {
		d.keepActive()
	}
	return d.number()
}

func (d *Deriver) opening() {
	for i := range d.u.Events {
		e := &d.u.Events[i]
		d.movements = append(d.movements, Movement{
			Event: -1, Party: e.Coin.Owner, Pocket: e.Coin.pocket(), Amount: e.Coin.Amount, Cause: Opening, StatedRound: -1, Source: FromOpening,
		})
	}
}

func (c *Coin) pocket() string {
	if c.Locked {
		return Locked
	}
	return Unlocked
}

// findFrames fills d.frame. Parents come before their children. The legs of a settlement explain all that
// happens below it.
func (d *Deriver) findFrames() {
	d.frame = d.frame[:0]
	for i := range d.u.Events {
		e, at := &d.u.Events[i], -1
		if e.Parent >= 0 {
			at = d.frame[e.Parent]
		}
		if frames[e.Choice].kind != 0 && (at < 0 || frames[d.u.Events[at].Choice].kind != settles) {
			at = i
		}
		d.frame = append(d.frame, at)
	}
}

// findTransient finds out whether the governance party only passes coins on to be burnt: the payment for
// a name becomes a coin of its that it archives at once.
func (d *Deriver) findTransient() {
	created, consumed := 0, 0
	for i := range d.u.Events {
		e := &d.u.Events[i]
		if e.Does == Nothing || e.Coin.Owner != d.u.Admin {
			continue
		}
		if e.Does == Creates {
			created++
			continue
		}
		if d.createdAs(e.ID) < 0 || d.burnClass(i) == "" {
			d.transient = false
			return
		}
		consumed++
	}
	d.transient = consumed > 0 && created == consumed
}

// createdAs is the index of the event that creates a coin, -1 if the update does not.
func (d *Deriver) createdAs(id uint64) int {
	return slices.IndexFunc(d.u.Events, func(e Event) bool { return e.Does == Creates && e.ID == id })
}

func (d *Deriver) consumedAs(id uint64) int {
	return slices.IndexFunc(d.u.Events, func(e Event) bool { return e.Does == Consumes && e.ID == id })
}

// burnClass is what an event burns a coin for.
func (d *Deriver) burnClass(i int) string {
	if d.frame[i] < 0 {
		return ""
	}
	return frames[d.u.Events[d.frame[i]].Choice].burns
}

// noteRepeats forgets what choices say of minting that one below them says as well.
func (d *Deriver) noteRepeats() {
	for i := range d.u.Events {
		e := &d.u.Events[i]
		if e.Told == nil || !e.Told.Summed {
			continue
		}
		for p := e.Parent; p >= 0; p = d.u.Events[p].Parent {
			if t := d.u.Events[p].Told; t != nil {
				t.Summed, t.Minted = false, nil
			}
		}
	}
}

// explain goes through the frames that have coins.
func (d *Deriver) explain() {
	d.done = slices.Grow(d.done[:0], len(d.u.Events))[:len(d.u.Events)]
	clear(d.done)
	for i := range d.u.Events {
		if at := d.frame[i]; d.u.Events[i].Does != Nothing && !d.done[i] {
			d.frameAt(at)
		}
	}
	for i := range d.u.Events { // settlements may net to nothing
		e := &d.u.Events[i]
		if frames[e.Choice].kind == settles && d.frame[i] == i && !d.done[i] {
			d.frameAt(i)
		}
	}
}

// account is what a frame does to the coins of an owner, by pocket: unlocked and locked.
type account struct {
	owner   string
	in, out [2]decimal.Decimal
}

func pocketOf(c *Coin) int {
	if c.Locked {
		return 1
	}
	return 0
}

func (a *account) net(pocket int) decimal.Decimal { return a.out[pocket].Minus(a.in[pocket]) }

// scene is a frame with what it does.
type scene struct {
	*Deriver
	frame
	of       Movement // what all its movements have
	told     *Told
	locks    bool // it leaves something locked
	accounts []account
	// passed is what goes to the governance party to be burnt, by class.
	passed []ClassAmount
}

// frameAt explains all coins of one frame, or those without any.
func (d *Deriver) frameAt(at int) {
	s := scene{Deriver: d, told: &Told{Round: -1}, of: Movement{Event: -1, StatedRound: -1}}
	if at >= 0 {
		d.done[at] = true
		s.begin(at)
	}
	for i := range d.u.Events {
		if d.frame[i] == at && d.u.Events[i].Does != Nothing {
			d.done[i] = true
			s.take(i, at)
		}
	}
	if at < 0 {
		s.nameOutermost(func(i int) bool { return s.Deriver.frame[i] < 0 })
	}
	switch s.kind {
	case transfers:
		s.transfer()
	case mints:
		s.mint(at)
	case expires:
		s.expire()
	case settles:
		s.settle(at)
	default:
		for i := range s.accounts {
			s.unexplained(&s.accounts[i])
		}
	}
}

// begin names the frame. What it does not say itself, a choice around it may.
func (s *scene) begin(at int) {
	e := &s.u.Events[at]
	s.frame = frames[e.Choice]
	s.of.Event, s.of.Choice, s.of.Template = e.Node, e.Choice, e.Template
	if e.Told != nil {
		s.told = e.Told
	}
	for i := at; i >= 0; i = s.u.Events[i].Parent {
		around := &s.u.Events[i]
		s.of.Purpose = cmp.Or(frames[around.Choice].purpose, s.of.Purpose)
		if t := around.Told; t != nil {
			s.of.Reference, s.of.Reason = cmp.Or(s.of.Reference, t.Reference), cmp.Or(s.of.Reason, t.Reason)
			s.of.StatedRound = max(s.of.StatedRound, t.Round)
		}
	}
}

// nameOutermost names the event around coins that no frame explains: around the first of some.
func (s *scene) nameOutermost(some func(i int) bool) {
	for i := range s.u.Events {
		if s.u.Events[i].Does == Nothing || !some(i) {
			continue
		}
		for at := i; at >= 0; at = s.u.Events[at].Parent {
			e := &s.u.Events[at]
			s.of.Event, s.of.Choice, s.of.Template = e.Node, e.Choice, e.Template
			s.of.Purpose = cmp.Or(frames[e.Choice].purpose, s.of.Purpose)
			if e.Told != nil {
				s.told.Sender = cmp.Or(e.Told.Sender, s.told.Sender)
			}
		}
		return
	}
}

// other is who an argument names as the sender, unless that is the party.
func (s *scene) other(party string) string {
	if s.told.Sender == party {
		return ""
	}
	return s.told.Sender
}

// take adds the coin of event i. What a frame both creates and consumes is not counted.
func (s *scene) take(i, at int) {
	e := &s.u.Events[i]
	if s.transient && e.Coin.Owner == s.u.Admin {
		if e.Does == Creates {
			s.passed = append(s.passed, ClassAmount{s.burnClass(s.consumedAs(e.ID)), e.Coin.Amount})
		}
		return
	}
	a, p := s.account(e.Coin.Owner), pocketOf(&e.Coin)
	if e.Does == Creates {
		a.out[p] = a.out[p].Plus(e.Coin.Amount)
		s.of.Reason = cmp.Or(s.of.Reason, e.Coin.Context)
		return
	}
	if n := s.createdAs(e.ID); n >= 0 && s.Deriver.frame[n] == at {
		a.out[p] = a.out[p].Minus(e.Coin.Amount)
		return
	}
	a.in[p] = a.in[p].Plus(e.Coin.Amount)
}

func (s *scene) account(owner string) *account {
	i := slices.IndexFunc(s.accounts, func(a account) bool { return a.owner == owner })
	if i < 0 {
		i = len(s.accounts)
		s.accounts = append(s.accounts, account{owner: owner})
	}
	return &s.accounts[i]
}

// add adds a movement of the frame, unless it is of nothing.
func (s *scene) add(party string, pocket int, amount decimal.Decimal, cause Cause, class, counterparty string) {
	if amount.Sign() == 0 {
		return
	}
	m := s.of
	m.Party, m.Pocket, m.Amount, m.Cause, m.Class, m.Counterparty = party, Unlocked, amount, cause, class, counterparty
	m.Source = FromCoins
	if pocket == 1 {
		m.Pocket = Locked
	}
	if cause == Unexplained {
		m.Source = FromRest
	}
	s.movements = append(s.movements, m)
}

// unexplained tells of an account that no rule explains.
func (s *scene) unexplained(a *account) {
	for pocket := range a.in {
		s.add(a.owner, pocket, a.net(pocket), Unexplained, "", s.other(a.owner))
	}
}

// relock moves what the locked coins of an account have become more, or less, between its pockets.
func (s *scene) relock(a *account) {
	locked := a.net(1)
	s.add(a.owner, 0, locked.Neg(), Lock, "", "")
	s.add(a.owner, 1, locked, Lock, "", "")
}

// sender is the account of who transfers.
func (s *scene) sender() *account {
	if s.told.Sender != "" {
		return s.account(s.told.Sender)
	}
	for i := range s.accounts {
		if a := &s.accounts[i]; a.in[0].Plus(a.in[1]).Sign() > 0 {
			return a
		}
	}
	return &s.accounts[0]
}

// transfer explains what one sender does: debits of it for what others get, what is minted for it, and
// what is left over as burnt.
func (s *scene) transfer() {
	if len(s.accounts) == 0 && len(s.passed) == 0 {
		return
	}
	if len(s.accounts) == 0 {
		s.account(s.u.Admin)
	}
	from := s.sender().owner
	given, left := decimal.Decimal{}, decimal.Decimal{}
	for i := range s.accounts {
		a := &s.accounts[i]
		s.locks = s.locks || a.out[1].Sign() > 0
		if a.owner == from {
			left = left.Minus(a.net(0)).Minus(a.net(1))
			continue
		}
		given = given.Plus(a.out[0]).Plus(a.out[1])
	}
	for _, p := range s.passed {
		given = given.Plus(p.Amount)
	}
	left = left.Minus(given)
	for _, m := range s.told.Minted {
		left = left.Plus(m.Amount)
	}
	s.choosePurpose(given)
	for i := range s.accounts {
		a := &s.accounts[i]
		if a.owner == from {
			continue
		}
		for pocket := range a.out {
			s.add(from, 0, a.out[pocket].Neg(), Transfer, "", a.owner)
			s.add(a.owner, pocket, a.out[pocket], Transfer, "", from)
			s.add(a.owner, pocket, a.in[pocket].Neg(), Unexplained, "", "")
		}
	}
	for _, p := range s.passed {
		s.add(from, 0, p.Amount.Neg(), Burn, p.Class, "")
	}
	for _, m := range s.told.Minted {
		s.add(from, 0, m.Amount, Mint, m.Class, "")
	}
	s.burn(from, left)
	s.relock(s.account(from))
}

// burn tells of what is left of a sender's coins.
func (s *scene) burn(from string, left decimal.Decimal) {
	class := s.burns
	switch {
	case left.Sign() < 0 || class == "":
		s.add(from, 0, left.Neg(), Unexplained, "", "")
		return
	case s.stated:
		paid := s.told.Paid
		if left.Less(paid) {
			paid = left
		}
		s.add(from, 0, paid.Neg(), Burn, class, "")
		left, class = left.Minus(paid), Fee
	}
	s.add(from, 0, left.Neg(), Burn, class, "")
}

// choosePurpose tells plain transfers apart.
func (s *scene) choosePurpose(given decimal.Decimal) {
	switch {
	case s.of.Purpose == "" && given.Sign() == 0 && !s.locks && len(s.told.Minted) > 0:
		s.of.Purpose = purposeCollectRewards
	case s.of.Purpose == "" && given.Sign() == 0 && !s.locks:
		s.of.Purpose = purposeMerge
	case s.of.Purpose == "":
		s.of.Purpose = purposeTransfer
	case s.of.Purpose == purposeTransfer && s.locks:
		s.of.Purpose = purposeInstruction
	}
}

// mint explains coins that are created out of nothing.
func (s *scene) mint(at int) {
	class := Other
	for i := at; i >= 0; i = s.u.Events[i].Parent {
		switch choice := s.u.Events[i].Choice; {
		case choice == template.CoinRulesTap:
			class = Tap
		case strings.Contains(choice, "SvReward"): // operators once had theirs by a mint
			class = Operator
		}
	}
	for i := range s.accounts {
		a := &s.accounts[i]
		for pocket := range a.in {
			s.add(a.owner, pocket, a.out[pocket], Mint, class, "")
			s.add(a.owner, pocket, a.in[pocket].Neg(), Unexplained, "", "")
		}
	}
}

// expire explains coins that are used up.
func (s *scene) expire() {
	for i := range s.accounts {
		a := &s.accounts[i]
		for pocket := range a.in {
			s.add(a.owner, pocket, a.in[pocket].Neg(), Burn, s.burns, "")
			s.add(a.owner, pocket, a.out[pocket], Unexplained, "", "")
		}
	}
}

// number puts the movements in order, adds up those of one kind, and numbers them.
func (d *Deriver) number() []Movement {
	slices.SortStableFunc(d.movements, compare)
	kept := d.movements[:0]
	for _, m := range d.movements {
		if n := len(kept); n > 0 && compare(kept[n-1], m) == 0 {
			kept[n-1].Amount = kept[n-1].Amount.Plus(m.Amount)
			continue
		}
		kept = append(kept, m)
	}
	d.movements = slices.DeleteFunc(kept, func(m Movement) bool { return m.Amount.Sign() == 0 })
	for i := range d.movements {
		d.movements[i].Entry = int32(i)
	}
	return d.movements
}

func compare(a, b Movement) int {
	return cmp.Or(cmp.Compare(a.Event, b.Event), cmp.Compare(a.Party, b.Party), cmp.Compare(a.Pocket, b.Pocket), cmp.Compare(a.Cause, b.Cause),
		cmp.Compare(a.Counterparty, b.Counterparty), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Reference, b.Reference))
}
