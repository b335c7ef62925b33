// Package keep lets an engine outlive the daemon that started it: weights that
// took minutes to load are not lost with a crash of the daemon or an upgrade
// of the program.
//
// The nouns: a keeper is a small process (dyn worker keep) in a session of its
// own that holds one engine as its child. An Order is what it is told to run.
// A Record is its run file: who runs, where, with what key. A Kept is a
// daemon's hold on a keeper, its own or one that it found.
//
// A keeper's life: Start → it starts the engine, bound to itself, and writes
// the run file → it listens on a Unix socket. Whoever is connected may order
// the engine's end, and hears how it ended. An engine that ends by itself is
// noted in the run file, for nobody may listen; one that was ended on order
// leaves none.
//
// A keeper ends its engine by itself when no daemon has lived for Order.Grace,
// and when its run file is no longer its own: then another engine has its
// name, or the folder was removed.
//
// Trust: files and sockets are this user's alone. A process is never signalled
// for its number: orders go through the socket, whose first line names the
// mark of the Record, and what a keeper that was killed left behind is found
// by the same mark in its environment, or by session, group and time (see
// child.Family). So a run file of yesterday does no harm.
//
// When a keeper is killed, Linux kills its engine; the engine's own children
// go when the daemon notices, or with the next dyn up or dyn down. Elsewhere
// nothing kills the engine then, and the daemon cannot: it says so.
//
// Cost: a few MB and one look at two files every five seconds per engine.
package keep
