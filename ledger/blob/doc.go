// Package blob is the form in which a raw turn's content lies in the ledger:
// one byte string per turn. It knows no database, so that its fuzz test needs
// none.
//
// A blob is one byte that names the form, the CRC-32C of all that follows
// (four bytes, little endian), then opening, ids and thinking, each with its
// length in front; lengths and ids are varints, two to three bytes for most.
// The sum is there because SQLite has none: a flipped bit would be another
// prompt, and nobody would see it.
//
// Cost: three bytes an id, and some ten microseconds for a thousand of them.
package blob
