// Package snapshot is the whole picture of a daemon at one instant. dyn top,
// dyn top --once --json, dyn ps, dyn stats and the metrics page draw from it;
// the server builds one per tick whether or not anyone looks.
//
// The JSON form is a promise: v is 1, fields may be added, never changed;
// times are RFC 3339, units are in the names. A pointer that is null, and -1
// in a count, mean unknown, which a screen shows as –, never as 0.
package snapshot
