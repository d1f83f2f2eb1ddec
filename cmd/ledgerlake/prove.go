package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func newProve(c *cli) *cobra.Command {
	var updateID string
	cmd := &cobra.Command{
		Use:   "prove --update-id ID",
		Short: "prove that an update is in the published history",
		Long: `prove looks up an update in the bucket, as get does, and prints a proof that its segment
contains it: the hashes between the update and the Merkle root in the segment's manifest,
and the segment's link in the chain of all segments. ledgerlake check-proof checks it
offline. docs/formats/proofs.md describes what is hashed.`,
		Example: "  ledgerlake prove --update-id 1220fe4b... > proof.json\n" +
			"  ledgerlake get --update-id 1220fe4b... > update.json\n" +
			"  ledgerlake check-proof --proof proof.json --update update.json --link 5f0c...",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if updateID == "" {
				return settings.Usage("prove needs --update-id, the id of the update to prove")
			}
			if err := checkUpdateID(updateID); err != nil {
				return err
			}
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			return c.prove(cmd.Context(), a, updateID)
		},
	}
	cmd.Flags().StringVar(&updateID, "update-id", "", "the update to prove")
	return cmd
}

func (c *cli) prove(ctx context.Context, a *app.App, updateID string) error {
	var proof *schemas.SegmentProof
	err := a.Published(ctx, func(ctx context.Context, archive *archive.Archive) (err error) {
		proof, err = archive.Prove(ctx, updateID)
		return err
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(c.data).Encode(proof)
}

// checkFlags say what to check and what is known to be right.
type checkFlags struct {
	proof, update string
	root, link    string
}

func newCheckProof(c *cli) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check-proof --proof FILE [--update FILE] [--root HEX] [--link HEX]",
		Short: "check a proof offline",
		Long: `check-proof checks a proof that ledgerlake prove printed. It needs no network and no store.

A proof says that an update of the given id, with content of the given SHA-256, belongs to a
segment with the given root, and that the segment has the given link. It cannot say whether
that root or link is the one of the real history: compare them with a source that you trust,
such as the manifests or chains of other operators. --root and --link compare them for you;
without them the command prints both. --update compares the content with a file, in the form
that ledgerlake get prints.`,
		Example: "  ledgerlake check-proof --proof proof.json --link 5f0c...\n" +
			"  ledgerlake prove --update-id 1220fe4b... | ledgerlake check-proof --proof - --update update.json",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.proof == "" {
				return settings.Usage("check-proof needs --proof, a file, or - for standard input")
			}
			return c.checkProof(f, cmd.InOrStdin())
		},
	}
	cmd.Flags().StringVar(&f.proof, "proof", "", "file with the proof, - for standard input")
	cmd.Flags().StringVar(&f.update, "update", "", "file with the update that the proof must be about")
	cmd.Flags().StringVar(&f.root, "root", "", "root that the segment must have")
	cmd.Flags().StringVar(&f.link, "link", "", "link that the segment must have")
	return cmd
}

func (c *cli) checkProof(f checkFlags, stdin io.Reader) error {
	data, err := readFileOr(f.proof, stdin)
	if err != nil {
		return fmt.Errorf("reading the proof: %w", err)
	}
	var proof schemas.SegmentProof
	if err := json.Unmarshal(data, &proof); err != nil {
		return fmt.Errorf("reading the proof: %w", err)
	}
	if err := proof.Check(); err != nil {
		return err
	}
	if f.update != "" {
		if err := isRow(&proof, f.update); err != nil {
			return err
		}
	}
	link := "none"
	if proof.Chained {
		link = hex.EncodeToString(proof.Link[:])
	}
	root := hex.EncodeToString(proof.Root[:])
	for _, known := range [][3]string{{"root", f.root, root}, {"link", f.link, link}} {
		if known[1] != "" && known[1] != known[2] {
			return fmt.Errorf("%w: the %s of segment %s is %s, not %s", schemas.ErrProof, known[0], proof.Segment, known[2], known[1])
		}
	}
	_, err = fmt.Fprintf(c.stdout, "update %s\nwith SHA-256 %x\nis row %d of %d of table %s of segment %s\nwith root %s\nand link %s\n",
		proof.ID, proof.Row, proof.Index, proof.Rows, proof.Table, proof.Segment, root, link)
	return err
}

// isRow compares the content of a file with the row that is proven.
func isRow(proof *schemas.SegmentProof, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the update: %w", err)
	}
	if sum := sha256.Sum256(bytes.TrimSuffix(data, []byte("\n"))); sum != proof.Row {
		return fmt.Errorf("%w: %s has SHA-256 %x, the proof is for %x", schemas.ErrProof, path, sum, proof.Row)
	}
	return nil
}

func readFileOr(path string, stdin io.Reader) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(path)
}
