// Package secret keeps keys out of what people are shown: lines of logs and
// command lines.
//
// A key is found by its value, where that is known, and else by what stands
// before it (api_key=, Authorization:, --api-key …) or by its form (hf_…). What
// is neither is shown: it is no promise about every secret that a program may
// write, and logs are their user's own files.
package secret
