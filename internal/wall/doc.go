// Package wall is a clock on the wall that a test can set: times that read as
// they would had somebody, or NTP, moved it by hours while the program ran.
//
// A time.Time that comes of time.Now carries two readings. Differences and
// comparisons of two such times go by the second, which no setting of the
// clock moves; a time that was stored, sent or changed to another zone has
// lost it and goes by the wall. So what decides by times bears a jump as long
// as it keeps whole what time.Now gave it. Step makes the times that show
// whether it does: the same readings of the one clock, another of the other.
//
// For tests only.
package wall
