package auth

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

var (
	// ErrUnauthenticated is the class of errors about a token that does not identify the caller.
	// Their text is for logs only: it would help to guess.
	ErrUnauthenticated = errors.New("not authenticated")
	// ErrDenied is the class of errors about a user who may not do what is asked for.
	ErrDenied = errors.New("permission denied")
	// ErrUnavailable is the class of errors of a server that cannot find out.
	ErrUnavailable = errors.New("authorization is not available")
)

// Rights are what a user may do. The zero value may do nothing.
type Rights struct {
	// Deactivated users may not do anything.
	Deactivated bool
	// PrimaryParty is "" for users without one.
	PrimaryParty string
	// ParticipantAdmin may manage parties and users; it may not read for that.
	ParticipantAdmin bool
	// ReadAsAny and ExecuteAsAny are the rights for all parties of the node.
	ReadAsAny, ExecuteAsAny bool
	// ActAs, ReadAs and ExecuteAs are parties. Acting as a party includes reading as it.
	ActAs, ReadAs, ExecuteAs map[string]bool
}

// Principal is who sends a request. The zero value may do nothing.
type Principal struct {
	// User is the id of a user, "" for everybody where nothing is checked.
	User string
	// Expires is when the token does, zero for never.
	Expires time.Time
	Rights  Rights
	// Unchecked says that no authorization is configured: everything is allowed.
	Unchecked bool
}

// MayRead returns nil if p may read what all the parties see and, with any, what any party
// of the node sees; else an error that is ErrDenied.
func (p *Principal) MayRead(parties []string, any bool) error {
	switch {
	case p.Unchecked:
		return nil
	case p.Rights.Deactivated:
		return fmt.Errorf("%w: user %q is deactivated", ErrDenied, p.User)
	case p.Rights.ReadAsAny:
		return nil
	case any:
		return fmt.Errorf("%w: user %q may not read as any party", ErrDenied, p.User)
	}
	for _, party := range parties {
		if !p.Rights.ReadAs[party] && !p.Rights.ActAs[party] {
			return fmt.Errorf("%w: user %q may not read as %q", ErrDenied, p.User, party)
		}
	}
	return nil
}

// Parties are those that p may read as, sorted.
func (p *Principal) Parties() []string {
	if p.Rights.Deactivated {
		return nil
	}
	readable := maps.Clone(p.Rights.ActAs)
	if readable == nil {
		readable = make(map[string]bool, len(p.Rights.ReadAs))
	}
	maps.Copy(readable, p.Rights.ReadAs)
	maps.DeleteFunc(readable, func(_ string, may bool) bool { return !may })
	return slices.Sorted(maps.Keys(readable))
}
