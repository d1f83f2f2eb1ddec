package sqlprompt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/peterh/liner"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// Terminal is what a Prompt needs beside its standard input and output, which are a terminal.
type Terminal struct {
	// Screen takes what is asked with a backslash, Messages errors and times.
	Screen, Messages io.Writer
	// History is the file of earlier statements.
	History string
	// Interrupts calls do on each interrupt from now on until release, instead of ending the process.
	Interrupts func(do func()) (release func())
}

// Prompt asks for statements on the terminal and runs them until the user leaves, or ctx ends. An error of a
// statement is printed and does not end it; an interrupt cancels the statement that is running, or that is
// being typed.
func (q *Shell) Prompt(ctx context.Context, t Terminal) (err error) {
	past, err := openHistory(t.History)
	if err != nil {
		return err
	}
	editor := liner.NewLiner()
	defer func() { err = errors.Join(err, editor.Close(), past.close()) }()
	editor.SetCtrlCAborts(true)
	editor.SetMultiLineMode(true)
	editor.SetTabCompletionStyle(liner.TabPrints)
	for _, line := range past.lines {
		editor.AppendHistory(line)
	}
	p := &prompt{Shell: q, Terminal: t, editor: editor, past: past}
	words, err := readWords(ctx, q.Conn)
	if err != nil {
		return err
	}
	editor.SetWordCompleter(func(line string, pos int) (string, []string, string) {
		before := string([]rune(line)[:pos])
		return words.complete(p.typed.text.String(), before, line[len(before):])
	})
	fmt.Fprintln(t.Messages, `\? shows help, \q leaves. A statement ends with a semicolon.`)
	for {
		line, err := p.ask(ctx)
		switch {
		case errors.Is(err, liner.ErrPromptAborted):
			p.typed = splitter{}
		case errors.Is(err, io.EOF):
			fmt.Fprintln(t.Messages)
			return nil
		case err == nil && p.leaves(line):
			return nil
		case err != nil:
			return err
		default:
			p.take(ctx, line)
		}
	}
}

// prompt is one conversation.
type prompt struct {
	*Shell
	Terminal
	editor *liner.State
	past   *history
	typed  splitter // the statement that is being typed
	timing bool
}

// ask reads a line. It returns when ctx ends, too.
func (p *prompt) ask(ctx context.Context) (line string, err error) {
	text := "ledgerlake> "
	if p.typed.pending() {
		text = "       ...> "
	}
	defer p.Interrupts(func() {})() // where lines cannot be edited, Ctrl-C is a signal: it drops the line
	read := make(chan error, 1)
	guard.Go(func() (err error) {
		line, err = p.editor.Prompt(text)
		return err
	}, func(err error) { read <- err })
	select {
	case err := <-read:
		return line, err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// leaves reports whether a line ends the conversation.
func (p *prompt) leaves(line string) bool {
	switch strings.ToLower(strings.TrimRight(strings.TrimSpace(line), "; ")) {
	case `\q`, "exit", "quit":
		return !p.typed.pending()
	}
	return false
}

// take does what a line says, and prints why that failed.
func (p *prompt) take(ctx context.Context, line string) {
	if text := strings.TrimSpace(line); !p.typed.pending() && strings.HasPrefix(text, `\`) {
		p.remember(text, true)
		p.report(p.command(ctx, strings.Fields(text)))
		return
	}
	for _, s := range p.typed.add(line) {
		s.line = 1 // places count from the beginning of the statement
		p.report(p.execute(ctx, s))
	}
	if !p.typed.pending() {
		p.typed = splitter{} // comments
	}
}

// errCancelled is why an interrupted statement ends.
var errCancelled = errors.New("cancelled")

// execute runs a statement, which an interrupt cancels.
func (p *prompt) execute(ctx context.Context, s statement) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer p.Interrupts(func() { cancel(errCancelled) })()
	began := time.Now()
	n, err := p.run(ctx, s, p.Out, rowWriters[p.Format])
	// What is refused may have a credential, such as the key of a bucket.
	var refused refusal
	p.remember(s.flat, !errors.As(err, &refused))
	if context.Cause(ctx) == errCancelled {
		err = errCancelled
	}
	if p.timing {
		fmt.Fprintf(p.Messages, "%d rows, %.3f s\n", n, time.Since(began).Seconds())
	}
	return err
}

// remember keeps a line for the arrow keys, and in the file if it is to be written.
func (p *prompt) remember(line string, write bool) {
	if line == "" {
		return
	}
	p.editor.AppendHistory(line)
	if write {
		p.report(p.past.add(line))
	}
}

// report prints an error, if there is one, as one line.
func (p *prompt) report(err error) {
	if err != nil {
		fmt.Fprintln(p.Messages, "error:", strings.Join(strings.Fields(err.Error()), " "))
	}
}
