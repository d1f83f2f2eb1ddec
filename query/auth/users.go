package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"gopkg.in/yaml.v3"
)

// Users knows what users may do. Implementations are safe for concurrent use.
type Users interface {
	// Rights returns those of a user as they are now, or an error that is ErrUnauthenticated
	// for a user that is not known and ErrUnavailable when that cannot be found out.
	Rights(ctx context.Context, user string) (Rights, error)
}

// userEntry is a user in a file.
type userEntry struct {
	ID               string   `yaml:"id"`
	PrimaryParty     string   `yaml:"primary_party"`
	Deactivated      bool     `yaml:"deactivated"`
	ParticipantAdmin bool     `yaml:"participant_admin"`
	ReadAsAny        bool     `yaml:"can_read_as_any_party"`
	ExecuteAsAny     bool     `yaml:"can_execute_as_any_party"`
	ActAs            []string `yaml:"can_act_as"`
	ReadAs           []string `yaml:"can_read_as"`
	ExecuteAs        []string `yaml:"can_execute_as"`
}

func (e *userEntry) rights() Rights {
	return Rights{
		Deactivated: e.Deactivated, PrimaryParty: e.PrimaryParty, ParticipantAdmin: e.ParticipantAdmin,
		ReadAsAny: e.ReadAsAny, ExecuteAsAny: e.ExecuteAsAny,
		ActAs: setOf(e.ActAs), ReadAs: setOf(e.ReadAs), ExecuteAs: setOf(e.ExecuteAs),
	}
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, item := range list {
		set[item] = true
	}
	return set
}

// FileUsers are the users of a YAML file, which is read again when it changes:
//
//	users:
//	  - id: app
//	    can_read_as: ['alice::1220...']
//	    can_act_as: []
//	    can_read_as_any_party: false
//	    deactivated: false
type FileUsers struct {
	path string
	log  *slog.Logger

	mu   sync.Mutex
	seen os.FileInfo // when it was read
	byID map[string]Rights
}

// ReadUsers reads a file of users.
func ReadUsers(path string, log *slog.Logger) (*FileUsers, error) {
	u := &FileUsers{path: path, log: log}
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.read(); err != nil {
		return nil, err
	}
	return u, nil
}

// Rights implements Users. While the file cannot be read the users of before stay.
func (u *FileUsers) Rights(_ context.Context, user string) (Rights, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if info, err := os.Stat(u.path); err == nil && (info.ModTime() != u.seen.ModTime() || info.Size() != u.seen.Size()) {
		// Logged once for each change of the file.
		if err := u.read(); err != nil {
			u.log.Error("the file of users cannot be read: the previous users stay", "file", u.path, "err", err)
			u.seen = info
		} else {
			u.log.Info("read the file of users again", "file", u.path, "users", len(u.byID))
		}
	}
	rights, ok := u.byID[user]
	if !ok {
		return Rights{}, fmt.Errorf("%w: user %q is not known", ErrUnauthenticated, user)
	}
	return rights, nil
}

// read reads the file whole. The caller holds u.mu.
func (u *FileUsers) read() (err error) {
	file, err := os.Open(u.path)
	if err != nil {
		return fmt.Errorf("reading the users: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("reading the users: %w", err)
	}
	byID, err := parseUsers(file)
	if err != nil {
		return fmt.Errorf("reading the users in %s: %w", u.path, err)
	}
	u.seen, u.byID = info, byID
	return nil
}

func parseUsers(r io.Reader) (map[string]Rights, error) {
	var content struct {
		Users []userEntry `yaml:"users"`
	}
	d := yaml.NewDecoder(r)
	d.KnownFields(true) // a right with a wrong name must not be lost silently
	if err := d.Decode(&content); err != nil {
		return nil, err
	}
	byID := make(map[string]Rights, len(content.Users))
	for i, e := range content.Users {
		if e.ID == "" {
			return nil, fmt.Errorf("user %d has no id", i+1)
		}
		if _, ok := byID[e.ID]; ok {
			return nil, fmt.Errorf("user %q is listed twice", e.ID)
		}
		byID[e.ID] = e.rights()
	}
	return byID, nil
}
