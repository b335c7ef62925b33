// Package advise reads the last words of engines that did not start: what is
// the same for those that are written in Python. Adapters know which words
// theirs has; see engine.Adviser.
package advise
