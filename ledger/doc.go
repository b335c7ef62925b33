// Package ledger keeps what happened in one SQLite file: sessions, agents,
// turns, leases, workers and the events of lives. These books hold
// hashes, counts and times, never the text of a prompt. Beside them lies
// content, which expires: the model's own raw turns, as token ids, so that a
// restart changes no prompt, and responses that a client asked to store.
//
// The nouns: a Ledger is the writing side, one per daemon. A Reader is the
// reading side, any number, in any process, while the daemon writes. A row is
// a Turn, a Lease, an AgentEvent or a WorkerEvent. A Stat sums the turns of one agent, kind
// or tenant. Raw and Responses are the stores of content; what is kept there
// is found at once, in memory, before it is on disk.
//
// The way of a row: Turn, Lease, Agent, Worker and Keep put it into a bounded queue
// and return at once. One goroutine, the writer, owns the file; it takes rows
// from the queue and commits them in batches, after Options.Every or
// Options.Batch rows, whichever comes first. Sessions and agents are views of
// the turns; a worker's row is made of its events in the same transaction.
// Between batches the writer looks at the file, tries again what went wrong,
// and cuts what is too old or too much.
//
// What may be lost: at kill -9 the rows of the last Options.Every, and the ends
// of turns under way, which count as failed from the next Open on; at power
// loss the last commits too, since WAL mode does not wait for the disk. While
// the file cannot be written (locked, disk full, no permission, written by a
// newer dyn) rows stay in the queue until it can be again. The queue holds
// Options.Rows rows and Options.Bytes bytes, content in half of them; a row
// that finds it full is lost, and counted by its kind with the reason, see
// Health. Text in a row is cut at the lengths in clip.go, so that no client
// decides how much is kept. Content is bounded in bytes, see Options.MaxBytes.
//
// Forget removes a session whole, content and books, and leaves nothing of it
// in the free space of the file.
//
// What never happens: a turn that fails with the ledger, or waits for it
// longer than peekLimit. Open does not fail; a ledger that cannot be opened is
// a state, shown in Health.
//
// A file that is not a sound database, or that only this process can still
// read, is moved aside as <name>.corrupt-<time> and a new one begun; a file
// that somebody deleted is begun anew. Damage in the middle of the file is
// looked for once a minute, in the newest rows, and at opening, in all. While
// nothing is written all this takes some seconds longer to be seen. What
// happened is told by Health until the daemon ends. A file with the schema of
// a newer dyn, or a database that is not a ledger, is left alone.
//
// The schema is the ordered list of schema/*.sql; PRAGMA user_version counts
// those that were applied, each in a transaction of its own.
//
// Cost: an idle ledger wakes every four seconds for some stats. A row costs the
// caller a map's look-up and the writer some 5 µs, SQLite's work included; a
// raw turn takes some 3 bytes a token on disk and 16 bytes of memory, and to
// find one that is not in memory takes some 30 µs.
package ledger
