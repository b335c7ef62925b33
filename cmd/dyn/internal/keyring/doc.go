// Package keyring keeps the API keys of a user's daemon in one small file of
// the state folder, keys.json, readable for that user only.
//
// The nouns: a secret is what a client sends, sk-dyn- and 256 random bits; it
// is shown once and kept nowhere. A turn.Key is what is kept: a name, the
// SHA-256 of the secret, limits, and a salt of its own, so that no tenant can
// tell by its hits what another one sent. Ring is the file.
//
// The keys are not in the ledger, because a ledger may be lost: it is begun
// anew when it is damaged, and that must neither open the door to everybody
// nor lock all out. A key file that cannot be read is an error, never an
// empty ring.
//
// Every change takes a lock, reads the file, and replaces it whole; readers
// see the old file or the new one. A daemon reads it when it starts and when
// it is told to.
package keyring
