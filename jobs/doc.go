// Package jobs runs work in the background: it queues tasks in Redis, runs them a few
// at a time, repeats those that fail, and keeps those that keep failing where a person
// can see and repeat them.
//
// The queue decides when work runs. What is done and what is due is known by the store
// alone: Run asks the handlers for it at its start and at intervals, and queues what
// they name. So a lost or flushed Redis loses no work, and without a Redis an
// in-process one serves as well. For the same reason a task may run twice, in rare
// cases at the same time in two processes, and must be harmless then.
//
// A task names work and carries no data. Its ID is made of that name, which is what
// makes it unique in the queue. Each kind has a file, and exports share one.
package jobs
