package nodeapi

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

// AdminUser exists on every node from the start, with the right ParticipantAdmin. It is
// also who submits where no authorization is configured and the request names nobody.
const AdminUser = "participant_admin"

const (
	MaxUserRights   = 1000
	maxUsersPage    = 1000
	userIDAlphabet  = `[a-zA-Z0-9@^$.!` + "`" + `\-#+'~_|:()]{1,128}`
	MaxAnnotations  = 256 << 10 // bytes of the annotations of one user or party
	noSuchUser      = "getting user failed for unknown user %q"
	rightWithParty  = "CanActAs CanReadAs CanExecuteAs"
	rightWithoutOne = "ParticipantAdmin IdentityProviderAdmin CanReadAsAnyParty CanExecuteAsAnyParty"
)

var userIDForm = regexp.MustCompile("^" + userIDAlphabet + "$")

// WireRight is a right as requests and answers have it: {"kind":{KIND:{"value":{..}}}}.
type WireRight struct {
	Kind map[string]wireRightKind `json:"kind"`
}

type wireRightKind struct {
	Value *wireRightValue `json:"value,omitempty"`
}

type wireRightValue struct {
	Party string `json:"party,omitempty"`
}

func wireOf(r ledger.Right) WireRight {
	return WireRight{Kind: map[string]wireRightKind{r.Kind: {Value: &wireRightValue{Party: r.Party}}}}
}

// WireRights returns rights as answers have them.
func WireRights(rights []ledger.Right) []WireRight {
	list := make([]WireRight, len(rights))
	for i, r := range rights {
		list[i] = wireOf(r)
	}
	return list
}

// decodeRights reads rights, without doubles, in the order of the request.
func decodeRights(list []WireRight) ([]ledger.Right, error) {
	rights := make([]ledger.Right, 0, len(list))
	for _, w := range list {
		if len(w.Kind) > 1 {
			return nil, reply.BadRequest("a right has %d kinds, want one", len(w.Kind))
		}
		for kind, content := range w.Kind {
			r, err := decodeRight(kind, content)
			if err != nil {
				return nil, err
			}
			if r.Kind != "Empty" && !slices.Contains(rights, r) {
				rights = append(rights, r)
			}
		}
	}
	return rights, nil
}

func decodeRight(kind string, content wireRightKind) (ledger.Right, error) {
	switch {
	case kind == "Empty":
		return ledger.Right{Kind: kind}, nil
	case slices.Contains(strings.Fields(rightWithoutOne), kind):
		return ledger.Right{Kind: kind}, nil
	case !slices.Contains(strings.Fields(rightWithParty), kind):
		return ledger.Right{}, reply.BadRequest("right %q is unknown", kind)
	case content.Value == nil || content.Value.Party == "":
		return ledger.Right{}, missingField("party")
	}
	if err := checkPartyID("party", content.Value.Party); err != nil {
		return ledger.Right{}, err
	}
	return ledger.Right{Kind: kind, Party: content.Value.Party}, nil
}

// checkPartyID verifies the form of a party id: HINT::FINGERPRINT.
func checkPartyID(field, id string) error {
	if hint, fingerprint, ok := strings.Cut(id, model.PartyNamespaceMark); !ok || hint == "" || fingerprint == "" {
		return invalidField(field, "%q is not a party id", id)
	}
	return nil
}

// nodeUsers are the users of a node with their rights. Its methods may be called
// concurrently.
type nodeUsers struct {
	mu    sync.Mutex
	users map[string]*nodeUser
	// journal, if not nil, keeps what is changed.
	journal *ledger.Journal
}

// nodeUser is a user. The lock of nodeUsers guards it.
type nodeUser struct {
	ledger.WireUser
	version int64 // of what a client may change, but for the rights
	rights  []ledger.Right
	changed chan struct{} // closed when the user may do more or less than before
}

func newNodeUsers(auth *NodeAuth) *nodeUsers {
	u := &nodeUsers{users: map[string]*nodeUser{}}
	u.add(ledger.WireUser{ID: AdminUser}, []ledger.Right{{Kind: "ParticipantAdmin"}})
	if auth == nil {
		return u
	}
	for id, rights := range auth.Users {
		u.add(ledger.WireUser{ID: id}, slices.Clone(rights))
	}
	return u
}

// restore takes over the users of an earlier process, and keeps what is changed from now on.
func (u *nodeUsers) restore(users map[string]*ledger.KeptUser, j *ledger.Journal) {
	for id, k := range users {
		if k.Deleted {
			delete(u.users, id)
			continue
		}
		u.add(k.WireUser, slices.Clone(k.Rights)).version = k.Version
	}
	u.journal = j
}

// keep writes a user into the journal; the caller holds the lock.
func (u *nodeUsers) keep(user *nodeUser, deleted bool) error {
	if u.journal == nil {
		return nil
	}
	return u.journal.Add(ledger.JournalEntry{User: &ledger.KeptUser{WireUser: user.WireUser, Version: user.version, Rights: user.rights, Deleted: deleted}})
}

func (u *nodeUsers) add(w ledger.WireUser, rights []ledger.Right) *nodeUser {
	user := &nodeUser{WireUser: w, rights: rights, changed: make(chan struct{})}
	u.users[w.ID] = user
	return user
}

// wire returns the user as answers have it; the caller holds the lock.
func (u *nodeUser) wire() ledger.WireUser {
	w := u.WireUser
	w.Metadata = ledger.ObjectMeta{ResourceVersion: strconv.FormatInt(u.version, 10), Annotations: maps.Clone(u.Metadata.Annotations)}
	if w.Metadata.Annotations == nil {
		w.Metadata.Annotations = map[string]string{}
	}
	return w
}

// disturb ends the streams of the user, who may do something else from now on.
func (u *nodeUser) disturb() {
	close(u.changed)
	u.changed = make(chan struct{})
}

// principal returns who a user is now, false if there is no such user or it is deactivated.
func (u *nodeUsers) principal(id string) (principal, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	user := u.users[id]
	if user == nil || user.Deactivated {
		return principal{}, false
	}
	return principal{user: id, rights: slices.Clone(user.rights), changed: user.changed}, true
}

// get returns a user with its rights.
func (u *nodeUsers) get(id string) (ledger.WireUser, []ledger.Right, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	user := u.users[id]
	if user == nil {
		return ledger.WireUser{}, nil, unknownUser(id)
	}
	return user.wire(), slices.Clone(user.rights), nil
}

func unknownUser(id string) error {
	e := nodeRefusal("USER_NOT_FOUND", noSuchUser, id)
	e.Resources = append(e.Resources, [2]string{"USER", id})
	return e
}

// create adds a user.
func (u *nodeUsers) create(w ledger.WireUser, rights []ledger.Right) (ledger.WireUser, error) {
	switch {
	case w.ID == "":
		return ledger.WireUser{}, missingField("user.id")
	case !userIDForm.MatchString(w.ID):
		return ledger.WireUser{}, invalidField("user.id", "%q is not a user id", w.ID)
	case w.Metadata.ResourceVersion != "":
		return ledger.WireUser{}, invalidField("user.metadata.resource_version", "it must be empty")
	case len(rights) > MaxUserRights:
		return ledger.WireUser{}, tooManyRights(w.ID)
	}
	if err := checkUser(&w); err != nil {
		return ledger.WireUser{}, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.users[w.ID] != nil {
		e := nodeRefusal("USER_ALREADY_EXISTS", "creating user failed, as user %q already exists", w.ID)
		e.Resources = append(e.Resources, [2]string{"USER", w.ID})
		return ledger.WireUser{}, e
	}
	if err := u.keep(&nodeUser{WireUser: w, rights: rights}, false); err != nil {
		return ledger.WireUser{}, err
	}
	return u.add(w, rights).wire(), nil
}

// checkUser verifies the members that a client may choose.
func checkUser(w *ledger.WireUser) error {
	if w.PrimaryParty != "" {
		if err := checkPartyID("user.primary_party", w.PrimaryParty); err != nil {
			return err
		}
	}
	return checkMeta(w.Metadata)
}

func checkMeta(m ledger.ObjectMeta) error {
	size := 0
	for key, value := range m.Annotations {
		size += len(key) + len(value)
	}
	if size > MaxAnnotations {
		return invalidArgument("annotations of %d bytes are more than %d", size, MaxAnnotations)
	}
	return nil
}

// update changes the members of a user that a mask names.
func (u *nodeUsers) update(w ledger.WireUser, mask []string, self string) (ledger.WireUser, error) {
	if err := checkUser(&w); err != nil {
		return ledger.WireUser{}, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	user := u.users[w.ID]
	if user == nil {
		return ledger.WireUser{}, unknownUser(w.ID)
	}
	if v := w.Metadata.ResourceVersion; v != "" && v != strconv.FormatInt(user.version, 10) {
		return ledger.WireUser{}, nodeRefusal("CONCURRENT_USER_UPDATE_DETECTED",
			"update of user %q failed: resource version %s is not the current one", w.ID, v)
	}
	changed := *user
	for _, path := range mask {
		if err := changed.take(w, path); err != nil {
			return ledger.WireUser{}, err
		}
	}
	if changed.Deactivated && w.ID == self {
		return ledger.WireUser{}, invalidArgument("user %q cannot deactivate itself", w.ID)
	}
	disturbed := changed.Deactivated != user.Deactivated
	changed.version++
	if err := u.keep(&changed, false); err != nil {
		return ledger.WireUser{}, err
	}
	*user = changed
	if disturbed {
		user.disturb()
	}
	return user.wire(), nil
}

// take takes over the member of w that a path of an update mask names.
func (u *nodeUser) take(w ledger.WireUser, path string) error {
	switch strings.ReplaceAll(path, "_", "") {
	case "primaryparty", "primaryParty":
		u.PrimaryParty = w.PrimaryParty
	case "isdeactivated", "isDeactivated":
		u.Deactivated = w.Deactivated
	case "metadata", "metadata.annotations":
		u.Metadata.Annotations = mergedAnnotations(u.Metadata.Annotations, w.Metadata.Annotations)
	case "primarypartyauthentication", "primaryPartyAuthentication":
		u.PrimaryPartyAuthentication = w.PrimaryPartyAuthentication
	default:
		return invalidField("update_mask", "the update path %q is unknown", path)
	}
	return nil
}

// mergedAnnotations returns the old ones with the new ones over them; an empty text takes
// an annotation away.
func mergedAnnotations(old, changes map[string]string) map[string]string {
	merged := maps.Clone(old)
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, changes)
	maps.DeleteFunc(merged, func(_, value string) bool { return value == "" })
	return merged
}

// remove deletes a user.
func (u *nodeUsers) remove(id, self string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	user := u.users[id]
	switch {
	case user == nil:
		return unknownUser(id)
	case id == self:
		return invalidArgument("user %q cannot delete itself", id)
	}
	if err := u.keep(user, true); err != nil {
		return err
	}
	delete(u.users, id)
	user.disturb()
	return nil
}

// grant gives a user rights and returns those that are new.
func (u *nodeUsers) grant(id string, rights []ledger.Right) ([]ledger.Right, error) {
	return u.change(id, func(user *nodeUser) (changed []ledger.Right, err error) {
		for _, r := range rights {
			if !slices.Contains(user.rights, r) {
				changed = append(changed, r)
			}
		}
		if len(user.rights)+len(changed) > MaxUserRights {
			return nil, tooManyRights(id)
		}
		user.rights = append(user.rights, changed...)
		return changed, nil
	})
}

// revoke takes rights from a user and returns those that it had.
func (u *nodeUsers) revoke(id string, rights []ledger.Right) ([]ledger.Right, error) {
	return u.change(id, func(user *nodeUser) (changed []ledger.Right, err error) {
		kept := make([]ledger.Right, 0, len(user.rights))
		for _, r := range user.rights {
			if slices.Contains(rights, r) {
				changed = append(changed, r)
			} else {
				kept = append(kept, r)
			}
		}
		user.rights = kept
		return changed, nil
	})
}

// change has f change the rights of a copy of a user, takes them over, and ends the streams of that user if it did.
func (u *nodeUsers) change(id string, f func(*nodeUser) ([]ledger.Right, error)) ([]ledger.Right, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	user := u.users[id]
	if user == nil {
		return nil, unknownUser(id)
	}
	next := *user
	next.rights = slices.Clone(user.rights)
	changed, err := f(&next)
	if err != nil || len(changed) == 0 {
		return changed, err
	}
	if err := u.keep(&next, false); err != nil {
		return nil, err
	}
	user.rights = next.rights
	user.disturb()
	return changed, nil
}

func tooManyRights(id string) error {
	e := nodeRefusal("TOO_MANY_USER_RIGHTS", "user %q cannot have more than %d rights", id, MaxUserRights)
	e.Resources = append(e.Resources, [2]string{"USER", id})
	return e
}

// list returns up to limit users with ids above after, by id, and whether there are more.
func (u *nodeUsers) list(after string, limit int) (users []ledger.WireUser, more bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	ids := slices.Sorted(maps.Keys(u.users))
	first, found := slices.BinarySearch(ids, after)
	if found {
		first++
	}
	for _, id := range ids[first:] {
		if len(users) == limit {
			return users, true
		}
		users = append(users, u.users[id].wire())
	}
	return users, false
}
