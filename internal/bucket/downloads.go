package bucket

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// checkPiece is how much of a file is hashed at a time.
const checkPiece = 256 << 10

// Wanted is an object as it was published.
type Wanted struct {
	Key    string
	Size   int64
	SHA256 [32]byte
}

// DownloadsConfig configures Downloads.
type DownloadsConfig struct {
	// Client reaches the bucket, required.
	Client *Client
	// Folder holds the bucket's objects as files named by their keys: Gateway.Folder. With
	// it objects are read from there and not through the gateway. "" where there is none.
	Folder string
	// Now defaults to time.Now.
	Now func() time.Time
}

// Downloads opens published objects for those who will not look at them any more than at
// their length, many times each. An object is held against the digest that it was published
// with once for each version of it that the store has, and again after trustedFor: hashing
// costs more than sending. It is safe for concurrent use.
type Downloads struct {
	client *Client
	folder string
	trust  *trust
	// checks joins those who wait for the same object to be checked, hashing holds one token
	// for each that is.
	checks  singleflight.Group
	hashing chan struct{}
}

// NewDownloads sends nothing yet.
func NewDownloads(cfg DownloadsConfig) *Downloads {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Downloads{
		client: cfg.Client, folder: cfg.Folder, trust: newTrust(cfg.Now),
		// Half of the processors are left for those who download what is checked already.
		hashing: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
	}
}

// Open opens the bytes from..to of an object, from inclusive and to exclusive. Its errors
// are those of Client.Get. An object that is not what was published is ErrChecksum: of Open
// if it has another size or lies in the folder; else of a read of the whole object, at its
// end, while a range is read unchecked. ctx must live until the stream is closed, and the
// caller closes it. A stream from the folder is an io.WriterTo that has the kernel copy the
// file, where it can.
func (d *Downloads) Open(ctx context.Context, o Wanted, from, to int64) (io.ReadCloser, error) {
	if from < 0 || to < from || to > o.Size {
		return nil, fmt.Errorf("getting %s: %w: from %d to %d of %d", d.client.url(o.Key), ErrRange, from, to, o.Size)
	}
	if d.folder != "" {
		stream, err := d.openFile(ctx, o, from, to)
		// What is not there may have another reason than its absence: the gateway knows.
		if !errors.Is(err, fs.ErrNotExist) {
			return stream, err
		}
	}
	stream, err := d.openRemote(ctx, o, from, to)
	if err != nil {
		return nil, err // not stream: a nil *Reader in an interface is not nil
	}
	return stream, nil
}

// openRemote reads through the client.
func (d *Downloads) openRemote(ctx context.Context, o Wanted, from, to int64) (*Reader, error) {
	r, err := d.client.Get(ctx, o.Key, from, to)
	if errors.Is(err, ErrRange) { // it was within what was published
		return nil, fmt.Errorf("%w: the object was published with %d bytes: %w", ErrChecksum, o.Size, err)
	}
	if err != nil {
		return nil, err
	}
	if stored := r.Object; stored.Size != o.Size || stored.SHA256 != o.SHA256 && stored.SHA256 != [32]byte{} {
		err := fmt.Errorf("getting %s: %w: it has %d bytes and digest %x, but was published with %d and %x",
			d.client.url(o.Key), ErrChecksum, stored.Size, stored.SHA256, o.Size, o.SHA256)
		return nil, errors.Join(err, r.Close())
	}
	v := version{size: r.Object.Size, etag: r.Object.ETag}
	if d.trust.has(o, v) {
		r.whole = nil
	} else if to-from == o.Size {
		r.whole, r.want = sha256.New(), o.SHA256
		r.verified = func() { d.trust.add(o, v) }
	}
	return r, nil
}

// openFile reads the object's file. fs.ErrNotExist means that there is no such file.
func (d *Downloads) openFile(ctx context.Context, o Wanted, from, to int64) (stream io.ReadCloser, err error) {
	key := d.client.cfg.Prefix + o.Key
	if err := checkKey(key); err != nil {
		return nil, err
	}
	file, err := os.OpenInRoot(d.folder, filepath.FromSlash(key))
	if err != nil {
		return nil, fmt.Errorf("opening %s in its folder: %w", d.client.url(o.Key), err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("opening %s in its folder: %w", d.client.url(o.Key), err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("opening %s in its folder: %w: it is not a file", d.client.url(o.Key), fs.ErrNotExist)
	}
	v := version{size: info.Size(), modified: info.ModTime().UnixNano()}
	if err := d.check(ctx, file, o, v); err != nil {
		return nil, err
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading %s from byte %d on: %w", d.client.url(o.Key), from, err)
	}
	return &fileStream{file: file, rest: io.LimitedReader{R: file, N: to - from}}, nil
}

// check returns ErrChecksum unless a version of a file is what was published. It reads the
// whole file unless it is trusted.
func (d *Downloads) check(ctx context.Context, file *os.File, o Wanted, v version) error {
	if v.size != o.Size {
		return fmt.Errorf("reading %s: %w: it has %d bytes, but was published with %d", d.client.url(o.Key), ErrChecksum, v.size, o.Size)
	}
	for !d.trust.has(o, v) { // who waited for another one's check may have another version
		_, err, _ := d.checks.Do(o.Key, func() (any, error) { return nil, d.hash(file, o, v) })
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// hash reads a file and trusts its version. It does not end with the context of who asked
// first: others wait for it.
func (d *Downloads) hash(file *os.File, o Wanted, v version) error {
	d.hashing <- struct{}{}
	defer func() { <-d.hashing }()
	digest := sha256.New()
	if _, err := io.CopyBuffer(digest, io.NewSectionReader(file, 0, v.size), make([]byte, checkPiece)); err != nil {
		return fmt.Errorf("checking %s: %w", d.client.url(o.Key), err)
	}
	if got := [32]byte(digest.Sum(nil)); got != o.SHA256 {
		return fmt.Errorf("checking %s: %w: it has %x, but was published with %x", d.client.url(o.Key), ErrChecksum, got, o.SHA256)
	}
	d.trust.add(o, v)
	return nil
}

// fileStream is a stretch of a file.
type fileStream struct {
	file *os.File
	rest io.LimitedReader // of file
}

// Read implements io.Reader. A file that ends too early is io.ErrUnexpectedEOF.
func (s *fileStream) Read(p []byte) (int, error) {
	n, err := s.rest.Read(p)
	return n, s.ended(err)
}

// WriteTo implements io.WriterTo.
func (s *fileStream) WriteTo(w io.Writer) (int64, error) {
	n, err := io.Copy(w, &s.rest)
	if err == nil && s.rest.N > 0 {
		err = s.ended(io.EOF)
	}
	return n, err
}

func (s *fileStream) ended(err error) error {
	if err == io.EOF && s.rest.N > 0 {
		return fmt.Errorf("reading %s: %d bytes are missing: %w", s.file.Name(), s.rest.N, io.ErrUnexpectedEOF)
	}
	return err
}

// Close implements io.Closer.
func (s *fileStream) Close() error { return s.file.Close() }

const (
	// trustedFor is how long an object that had its digest is taken to have it: so that what
	// a disk loses without changing the file's time is found within the hour.
	trustedFor = time.Hour
	// maxTrusted bounds the memory, at about 200 bytes each.
	maxTrusted = 64 << 10
)

// version tells contents of one key apart, as the store or the file system describes them.
type version struct {
	size     int64
	modified int64  // of a file, ns since 1970
	etag     string // of an object
}

// trust remembers the versions of objects that were read as a whole and had the digest that
// they were published with. It is safe for concurrent use.
type trust struct {
	now   func() time.Time
	mu    sync.Mutex
	known map[string]trusted
}

type trusted struct {
	sum     [32]byte
	version version
	until   time.Time
}

func newTrust(now func() time.Time) *trust {
	return &trust{now: now, known: make(map[string]trusted)}
}

func (t *trust) has(o Wanted, v version) bool {
	at := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.known[o.Key]
	return ok && known.sum == o.SHA256 && known.version == v && at.Before(known.until)
}

func (t *trust) add(o Wanted, v version) {
	until := t.now().Add(trustedFor)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.known) >= maxTrusted {
		clear(t.known) // all are checked once more
	}
	t.known[o.Key] = trusted{o.SHA256, v, until}
}
