package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// getFlags say what to look up.
type getFlags struct {
	updateID, contractID string
	cost                 bool
}

func newGet(a *app) *cobra.Command {
	var f getFlags
	cmd := &cobra.Command{
		Use:   "get --update-id ID | --contract-id ID",
		Short: "look an update or a contract up in the published objects, without a database",
		Long: `get reads single updates straight from the bucket. Of segments with lookup objects, which
worker makes with --bulk-lookups, it takes one request for the place and one for the update;
what it needs of every segment beside that, its manifest and a filter of about two bytes for
each id, is fetched once and kept below --data. Other segments are searched by the Bloom
filters and page indexes of their Parquet objects, which takes tens of requests.

With --contract-id it prints the first event that created the contract or took it in.`,
		Example: "  ledgerlake get --update-id 1220fe4b... --s3-endpoint https://s3.example.com --s3-bucket lake --s3-access-key KEY --s3-secret-key SECRET\n" +
			"  ledgerlake get --contract-id 00a1b2... --cost",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && f.updateID == "" && f.contractID == "" {
				return fmt.Errorf("get takes an id by a flag: ledgerlake get --update-id %s, or --contract-id for the id of a contract", args[0])
			}
			return noArguments(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if (f.updateID == "") == (f.contractID == "") {
				return settings.Usage("get needs either --update-id or --contract-id, and an id with it")
			}
			if err := checkUpdateID(f.updateID); err != nil {
				return err
			}
			a.quiet()
			s := newStack(a)
			defer s.closeInto(&err)
			s.readsBucket = true
			if err := s.openBucket(cmd.Context()); err != nil {
				return err
			}
			return s.guard(cmd.Context(), func(ctx context.Context) error { return s.get(ctx, f) })
		},
	}
	cmd.Flags().StringVar(&f.updateID, "update-id", "", "print this update")
	cmd.Flags().StringVar(&f.contractID, "contract-id", "", "print the event that created this contract")
	cmd.Flags().BoolVar(&f.cost, "cost", false, "print what it took of the bucket to standard error")
	return cmd
}

// updateIDLength is the length of an update id: 1220, which says SHA-256, and 64 hex digits.
const updateIDLength = 4 + 64

// checkUpdateID refuses what is the beginning of an update id, as tables and logs show it: it
// would be looked for in the whole bucket, in vain.
func checkUpdateID(id string) error {
	if strings.HasPrefix(id, "1220") && len(id) < updateIDLength {
		return settings.Usage("--update-id must be a whole id, %d characters, and %s has %d: take it from /v2/updates or ledgerlake sql", updateIDLength, id, len(id))
	}
	return nil
}

func (s *stack) get(ctx context.Context, f getFlags) error {
	var found export.Found
	err := s.lookUp(ctx, func(archive *export.Archive) (err error) {
		if f.updateID != "" {
			found, err = archive.Update(ctx, f.updateID)
		} else {
			found, err = archive.Contract(ctx, f.contractID)
		}
		return err
	})
	if f.cost {
		c := found.Cost
		fmt.Fprintf(s.app.stderr, "%d range requests, %d bytes; fetched once and kept: %d, %d bytes\n", c.Requests, c.Bytes, c.KeptRequests, c.KeptBytes)
	}
	if err != nil {
		return err
	}
	row := found.Update
	if f.contractID != "" {
		row = found.Event
	}
	_, err = fmt.Fprintf(s.app.data, "%s\n", row)
	return err
}

// lookUp asks the cached manifests first. What they do not have may have been published
// since, and what they have may have been withdrawn.
func (s *stack) lookUp(ctx context.Context, find func(*export.Archive) error) error {
	cfg := s.archiveConfig()
	if err := makeTemp(cfg); err != nil {
		return err
	}
	if cached, err := export.OpenCachedArchive(cfg); err != nil {
		s.app.log.WarnContext(ctx, "the cache of manifests is not used", "err", err)
	} else if err := find(cached); err == nil {
		return nil
	} else if !errors.Is(err, schemas.ErrNotFound) {
		s.app.log.WarnContext(ctx, "asking with new manifests", "err", err)
	}
	archive, err := export.OpenArchive(ctx, cfg)
	if err != nil {
		return err
	}
	return find(archive)
}

// archiveConfig says where published objects are read from, and cached.
func (s *stack) archiveConfig() export.ArchiveConfig {
	return export.ArchiveConfig{
		Objects: s.bucket, TempDir: filepath.Join(s.app.cfg.Data, "tmp"), CacheDir: filepath.Join(s.app.cfg.Data, "cache", "objects"), Log: s.app.log,
	}
}

// makeTemp makes the folder in which objects are that are being read.
func makeTemp(cfg export.ArchiveConfig) error {
	if err := os.MkdirAll(cfg.TempDir, 0o755); err != nil {
		return fmt.Errorf("making a folder for objects under way: %w", err)
	}
	return nil
}
