package jobs

import (
	"context"
	"fmt"
)

// unit names what one export task publishes.
type unit interface {
	// Check returns an error unless it can name something.
	Check() error
}

// exports is the handler of tasks that publish one unit each. task makes the task of a
// unit, run publishes it, and due lists what is not published yet, oldest first.
func exports[U unit](kind Kind, task func(U) Task,
	run func(context.Context, U, ProgressFunc) error, due func(context.Context) ([]U, error),
) Handler {
	return Handler{
		Kind: kind,
		Run: func(ctx context.Context, payload []byte, progress ProgressFunc) error {
			u, err := Decode[U](kind, payload)
			if err != nil {
				return err
			}
			if err := u.Check(); err != nil {
				return Permanent(fmt.Errorf("decoding %s payload: %w", kind.Name, err))
			}
			if err := run(ctx, u, progress); err != nil {
				return fmt.Errorf("%s: %w", task(u).ID, err)
			}
			return nil
		},
		Due: func(ctx context.Context) ([]Task, error) {
			units, err := due(ctx)
			if err != nil {
				return nil, fmt.Errorf("listing what is due of %s: %w", kind.Name, err)
			}
			tasks := make([]Task, len(units))
			for i, u := range units {
				tasks[i] = task(u)
			}
			return tasks, nil
		},
	}
}
