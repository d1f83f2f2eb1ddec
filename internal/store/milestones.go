package store

// Backfilled is the milestone of a stream that has reached its upstream's end once.
const Backfilled = "backfilled"

// Stopped begins the milestone of a stream that must not go on; the reason follows.
const Stopped = "stopped: "
