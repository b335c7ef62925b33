// Package tenant tells who comes with an API key and how much of the daemon
// he may use.
//
// The nouns: a Ring is the set of keys in force; a Tenant is one key with
// what it has used. The Ring knows hashes only: a secret is hashed and looked
// up, so that how long a look-up takes says nothing about any secret.
//
// Limits are buckets that fill evenly, a minute's worth at most. A turn takes
// one request and a place among those at once when it enters; its tokens are
// taken when they are known, so the bucket of tokens may be overdrawn by the
// turns that are under way and the next turn waits until it is filled again.
// What makes no turn but work (counting, tokenizing) takes a request alone.
// Who is refused is told when to come back.
//
// Keys may be set anew at any time: a key that keeps its name keeps what it
// has used, and the places of its running turns. All methods are safe for
// concurrent use. A look-up costs one SHA-256 of the secret.
package tenant
