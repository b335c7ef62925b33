// Package ledger keeps what happened: sessions, turns, leases, workers.
package ledger
