// Package engine runs the embedded ClickHouse: a real server on the native protocol,
// as a child process of ours, that lives exactly as long as we hold its stdin open.
// It also opens connections to any ClickHouse, embedded or external (Open), so that
// the rest of the product cannot tell the two apart.
//
// # The child
//
// The engine is either a shared library that a copy of our own binary loads (see
// ChildMain) or a clickhouse binary run as "clickhouse local"; both take the same
// arguments. Locate documents where it is looked for. The last query of its command
// line counts the lines of stdin, so closing stdin ends it; when our process is killed
// the kernel closes that pipe, and no engine outlives its owner.
//
// A child that ends by itself is started again, on the same folder and at the same address;
// five ends within a minute end the Engine.
//
// # Files of a data folder
//
//	engine.lock          held while an engine uses the folder; contains our process id
//	engine.log           stdout and stderr of the child; engine.log.1 is the part before
//	engine.dsn           address of the running engine for reading, readable by the owner only
//	engine-owner.dsn     the same for a user who may do everything
//	engine-config.xml    server settings, rewritten at every start
//	engine-users.xml     users and session defaults, rewritten at every start
//	store/               the engine's own files: tables, metadata, status
//
// # Access
//
// Everything listens on loopback addresses only, and every start makes new random passwords:
// the engine's file() function reads whatever its process may read, so a port open to every
// local account would give our files away. A table function that connects back to the engine,
// such as remote(), has to be given the user and password too.
//
// The engine aborts when a client fails its handshake in any way, so other processes do not
// talk to it: a relay of ours stands at the address that is published, makes the handshake in
// the engine's place, and passes on what follows. The engine itself listens at a random
// loopback address. Two users have a password: one who may do everything, for this process and
// for repairs by hand, and a reader with grants to read the product's tables and nothing else.
// Processes of the same owner find the reader's address with RunningDSN.
package engine
