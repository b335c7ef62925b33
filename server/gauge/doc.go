// Package gauge keeps sliding windows of what happened: sums and latency
// quantiles over the last N steps of time, merged when somebody looks.
//
// A Window is a ring of buckets, one per step. Adding costs a few additions
// under a mutex; looking merges the buckets, so percentiles come from merged
// histograms and are never averages of percentiles. Memory is fixed. What is
// older than the window is forgotten, which is what a window is for.
package gauge
