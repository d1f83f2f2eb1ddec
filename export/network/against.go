package network

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Compared says what Against has compared.
type Compared struct {
	Folders, Lines int64
	// OtherNulls are the lines that differ in nothing but which members are null and which absent:
	// the release that wrote them decides which optional fields it knows.
	OtherNulls int64
	Findings   []Difference
}

// Difference is a line that differs, or another reason why files cannot be equal to history.
type Difference struct {
	What, Where     string
	Expected, Found string // "" where there is nothing to show
}

// linesOfFolder are files with the lines of one kind, encoding and folder.
type linesOfFolder struct {
	ref      schemas.NetworkRef
	encoding schemas.Encoding
}

func (f linesOfFolder) String() string { return fmt.Sprintf("%s in %s", f.ref, f.encoding) }

// Against compares files of the network's layout, such as those of another operator, with what this
// exporter would write: line by line, so that how lines are cut into objects and compressed does not
// matter. The files are below the root of dir under their keys. progress gets the number of lines that
// have been compared.
func (e *Exporter) Against(ctx context.Context, dir fs.FS, progress func(lines int64)) (Compared, error) {
	var c Compared
	files, err := filesOf(dir)
	if err != nil {
		return c, err
	}
	order := make([]linesOfFolder, 0, len(files))
	for f := range files {
		order = append(order, f)
	}
	slices.SortFunc(order, func(x, y linesOfFolder) int { return strings.Compare(x.String(), y.String()) })
	for _, f := range order {
		names, ok := namesInOrder(files[f])
		if !ok {
			c.Findings = append(c.Findings, Difference{What: "a file is missing", Where: f.String()})
			continue
		}
		f.ref.Stream = e.Catalog.Stream()
		u, err := e.closed(ctx, f.ref)
		if err != nil {
			c.Findings = append(c.Findings, Difference{What: "no such folder", Where: f.String(), Found: err.Error()})
			continue
		}
		theirs := openLines(dir, names)
		comparer := &lineComparer{lines: e.linesIn(f.encoding), where: f.String(), theirs: theirs, found: &c, progress: progress}
		err = e.writeLines(ctx, u, comparer)
		if err = errors.Join(err, theirs.close()); err != nil {
			return c, fmt.Errorf("comparing %s: %w", f, err)
		}
		c.Folders++
	}
	return c, nil
}

// numberedFile is a file with its number in its folder.
type numberedFile struct {
	n    int
	name string
}

// filesOf lists the files by what they hold, in the order of their numbers.
func filesOf(dir fs.FS) (map[linesOfFolder][]numberedFile, error) {
	files := make(map[linesOfFolder][]numberedFile)
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		ref, encoding, n, ok := schemas.ParseNetworkKey(name)
		switch {
		case ok:
			of := linesOfFolder{ref, encoding}
			files[of] = append(files[of], numberedFile{n, name})
		case path.Ext(name) == ".zstd":
			return fmt.Errorf("%s is not named as in the network's layout, such as %s", name, exampleKey)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("there are no files of the network's layout, such as %s", exampleKey)
	}
	for _, of := range files {
		slices.SortFunc(of, func(x, y numberedFile) int { return cmp.Compare(x.n, y.n) })
	}
	return files, err
}

const exampleKey = "2026-07-01T00:00:00Z~2026-07-02T00:00:00Z/updates_compact_json_0.zstd"

// namesInOrder returns the names, or ok = false if a number before the last one is missing.
func namesInOrder(files []numberedFile) (names []string, ok bool) {
	for i, f := range files {
		if f.n != i {
			return nil, false
		}
		names = append(names, f.name)
	}
	return names, true
}

// lineReader reads the lines of some files, one after the other.
type lineReader struct {
	dir     fs.FS
	names   []string
	file    fs.File // open, or nil
	decoder *zstd.Decoder
	in      *bufio.Reader
}

func openLines(dir fs.FS, names []string) *lineReader { return &lineReader{dir: dir, names: names} }

// next returns the next line without its end, valid until the next call; io.EOF after the last one.
func (r *lineReader) next(into []byte) ([]byte, error) {
	for {
		if r.in == nil {
			if err := r.open(); err != nil {
				return nil, err
			}
		}
		line, err := r.readLine(into)
		if !errors.Is(err, io.EOF) {
			return line, err
		}
		if len(line) > 0 {
			return nil, fmt.Errorf("%s: the last line is cut off", r.names[0])
		}
		if err := r.close(); err != nil {
			return nil, err
		}
		r.names = r.names[1:]
	}
}

// open opens the first of the files that are left.
func (r *lineReader) open() (err error) {
	if len(r.names) == 0 {
		return io.EOF
	}
	if r.file, err = r.dir.Open(r.names[0]); err != nil {
		return err
	}
	if r.decoder, err = newLineDecoder(r.file); err != nil {
		return err
	}
	r.in = bufio.NewReaderSize(r.decoder, 1<<20)
	return nil
}

// maxLine bounds one line of a file.
const maxLine = 512 << 20

func (r *lineReader) readLine(into []byte) ([]byte, error) {
	for {
		part, err := r.in.ReadSlice('\n')
		into = append(into, part...)
		switch {
		case err == nil:
			return into[:len(into)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			if !errors.Is(err, io.EOF) {
				err = fmt.Errorf("decompressing %s: %w", r.names[0], err)
			}
			return into, err
		case len(into) > maxLine:
			return nil, fmt.Errorf("%s has a line of more than %d bytes", r.names[0], maxLine)
		}
	}
}

// close closes the open file, if there is one.
func (r *lineReader) close() error {
	if r.decoder != nil {
		r.decoder.Close()
	}
	file := r.file
	r.file, r.decoder, r.in = nil, nil, nil
	if file == nil {
		return nil
	}
	return file.Close()
}

// maxDifferences of one folder are shown; where a line is missing all those behind it differ.
const maxDifferences = 5

// lineComparer compares lines with those of files.
type lineComparer struct {
	lines
	where      string
	theirs     *lineReader
	their      []byte // memory
	ours, read int64  // lines
	ended      bool   // theirs are over
	differ     int
	found      *Compared
	progress   func(lines int64)
}

func (c *lineComparer) add(_ context.Context, line []byte) error {
	c.line = line
	c.ours++
	if c.ended {
		return nil
	}
	their, err := c.theirs.next(c.their[:0])
	if errors.Is(err, io.EOF) {
		c.ended = true
		return nil
	}
	if err != nil {
		return err
	}
	c.their = their
	c.took()
	if bytes.Equal(line, their) {
		return nil
	}
	ours, others := withoutNulls(line), withoutNulls(their)
	if bytes.Equal(ours, others) {
		c.found.OtherNulls++
		return nil
	}
	expected, found := around(ours, others)
	c.differs(Difference{What: "a line differs", Where: fmt.Sprintf("%s, line %d", c.where, c.ours), Expected: expected, Found: found})
	return nil
}

func (c *lineComparer) took() {
	c.read++
	c.found.Lines++
	c.progress(c.found.Lines)
}

// end compares the numbers of lines.
func (c *lineComparer) end(context.Context) error {
	for !c.ended {
		_, err := c.theirs.next(c.their[:0])
		switch {
		case errors.Is(err, io.EOF):
			c.ended = true
		case err != nil:
			return err
		default:
			c.took()
		}
	}
	if more := c.differ - maxDifferences; more > 0 {
		c.found.Findings = append(c.found.Findings, Difference{What: fmt.Sprintf("%d more lines differ", more), Where: c.where})
	}
	if c.ours != c.read {
		c.found.Findings = append(c.found.Findings, Difference{What: "the number of lines differs", Where: c.where, Expected: fmt.Sprint(c.ours), Found: fmt.Sprint(c.read)})
	}
	return nil
}

func (c *lineComparer) differs(d Difference) {
	if c.differ++; c.differ <= maxDifferences {
		c.found.Findings = append(c.found.Findings, d)
	}
}

// withoutNulls is a line without the members that are null, or the line if it is not JSON.
func withoutNulls(line []byte) []byte {
	in := json.NewDecoder(bytes.NewReader(line))
	in.UseNumber()
	var value any
	if in.Decode(&value) != nil {
		return line
	}
	dropNulls(value)
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	if to.Encode(value) != nil {
		return line
	}
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
}

// dropNulls removes the members of a decoded value that are null.
func dropNulls(value any) {
	switch v := value.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, member any) bool { return member == nil })
		for _, member := range v {
			dropNulls(member)
		}
	case []any:
		for _, element := range v {
			dropNulls(element)
		}
	}
}

// around shows two lines where they begin to differ.
func around(x, y []byte) (string, string) {
	at := 0
	for at < len(x) && at < len(y) && x[at] == y[at] {
		at++
	}
	const before, behind = 60, 80
	show := func(line []byte) string {
		from, to := max(0, at-before), min(len(line), at+behind)
		return string(line[from:to])
	}
	return show(x), show(y)
}
