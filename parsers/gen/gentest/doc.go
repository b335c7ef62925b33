// Package gentest runs the tests that dyn parsers gen writes.
package gentest
