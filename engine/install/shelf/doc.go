// Package shelf makes Python packages of a few files and serves them as an
// index does, for tests that install something without a network.
package shelf
