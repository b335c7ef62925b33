package ledger

import "time"

// Options says how much a ledger holds, in memory and on disk. The zero value
// is good.
type Options struct {
	// Every is the longest time a row waits for its commit. Default 250 ms;
	// anything above a second is a second.
	Every time.Duration

	// Batch is the number of rows that are committed without waiting any
	// longer. Default 1024, which is also the most: a turn that is on its way
	// when a batch is taken is written twice.
	Batch int

	// Rows and Bytes bound the queue. Defaults 8192 rows and 32 MiB.
	Rows  int
	Bytes int64

	// MaxAge is how long rows are kept. Default 30 days; negative is for
	// ever.
	MaxAge time.Duration

	// RawAge is how long raw turns are kept. Default 24 hours; negative keeps
	// none, and removes those that an earlier daemon kept.
	RawAge time.Duration

	// MaxBytes is how large the file may become before the oldest turns go.
	// Default 512 MiB; negative is any size. Raw turns and stored responses
	// have at most a quarter of it each, or of the default; above that the
	// oldest of them go.
	MaxBytes int64
}

// The defaults and limits of Options.
const (
	minEvery = time.Millisecond
	maxEvery = time.Second
	maxBatch = 1024

	defaultEvery = 250 * time.Millisecond
	defaultRows  = 8192
	defaultBytes = 32 << 20
	defaultAge   = 30 * 24 * time.Hour
	defaultSize  = 512 << 20
	defaultRaw   = 24 * time.Hour
)

// filled returns o with its defaults in place.
func (o Options) filled() Options {
	if o.Every <= 0 {
		o.Every = defaultEvery
	}
	if o.Batch <= 0 {
		o.Batch = maxBatch
	}
	if o.Rows <= 0 {
		o.Rows = defaultRows
	}
	if o.Bytes <= 0 {
		o.Bytes = defaultBytes
	}
	if o.MaxAge == 0 {
		o.MaxAge = defaultAge
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultSize
	}
	if o.RawAge == 0 {
		o.RawAge = defaultRaw
	}
	o.Every = min(max(o.Every, minEvery), maxEvery)
	o.Batch = min(o.Batch, maxBatch)
	return o
}

// content is how many bytes the file may hold of each kind of content.
func (o Options) content() int64 {
	if o.MaxBytes < 0 {
		return defaultSize / 4
	}
	return o.MaxBytes / 4
}
