// Package gpu counts the NVIDIA GPUs of this machine by NVML, the driver's own
// library. It says which cards there are and how much memory of theirs is
// free; it changes nothing.
//
// The library is looked up at run time and most machines that build dyn have
// none. After a failed start of NVML any further call into it ends the
// process, so this package makes none: Count is the only way in, it starts
// NVML, and it returns at once when that fails. Calls are serialised, since
// starting and ending the library is global to the process.
//
// A card that shares one memory with the CPU has none of its own to tell of: it
// has the machine's. What else NVML does not tell is zero. A card that answers nothing at all is left
// out and named in the error beside the cards that did.
//
// Cost: tens of milliseconds, once per call; nothing is kept.
package gpu
