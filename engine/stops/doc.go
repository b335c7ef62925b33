// Package stops finds stop strings in text that comes in pieces, for engines
// that do not look for them, or not in a way to rely on.
//
// A Finder is told the text as it comes and says what of it may be shown. The
// longest end of the text that may be the beginning of a stop string is held
// back until more is known. The stop string that is complete first ends the
// text, and of those that are complete at the same place the longest; so it
// is the same one however the text was cut into pieces.
//
// Cost: one comparison of each stop string's first byte with each byte of the
// text, and more only where it is equal. What is held is shorter than the
// longest stop string.
package stops
