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
// # Files of a data folder
//
//	engine.lock          held while an engine uses the folder; contains our process id
//	engine.log           stdout and stderr of the child; engine.log.1 is the part before
//	engine.dsn           address of the running engine, readable by the owner only
//	engine-config.xml    server settings, rewritten at every start
//	engine-users.xml     users and session defaults, rewritten at every start
//	store/               the engine's own files: tables, metadata, status
//
// # Access
//
// The listeners are on 127.0.0.1 only, and every start makes a new random password
// for the one usable user: the engine's file() function reads whatever its process may
// read, so a port open to every local account would give our files away. Processes of
// the same owner find the address with RunningDSN. A table function that connects back to
// the engine, such as remote(), has to be given the user and password too.
package engine
