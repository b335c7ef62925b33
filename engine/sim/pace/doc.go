// Package pace is the simulated engine's sense of time: how long a step takes
// on a given model and GPU.
//
// A step costs a fixed time (weights are read once), a time for each prompt
// token computed, one for the attention of those tokens over what lies before
// them, and one for each cached token that a decoding request reads:
//
//	ms = Fixed + Token·Σp + Attend·Σp(ctx+p/2) + Read·Σctx
//
// where p and ctx are a prefill chunk and the tokens before it, and the last
// sum runs over decoding requests. The numbers of the built-in profiles are
// derived from the hardware's data sheets and public measurements, ±30 %: good
// for comparing decisions, not for promising latencies.
//
// The package is pure; a Profile is a plain value.
package pace
