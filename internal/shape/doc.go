// Package shape holds the tests that keep the house as it is drawn in
// docs/architecture.md. It has no code for others.
//
// The tests walk the repository's Go files and fail when
//
//   - a room imports another room of its own floor or of a higher one, or a
//     package of the lowest floor imports more than it may;
//   - a library is used outside the one room that may know it;
//   - a file has more than 500 lines, generated ones excepted;
//   - a package has no doc.go, or one of more than 60 lines;
//   - a package has a name that says nothing;
//   - a file holds a mark of unfinished work, or a path of somebody's machine.
//
// Stale completions are found by a test in cmd/dyn, which can make them.
// Tests are free of floors, since a test may set up the whole house, but not
// of fences.
package shape
