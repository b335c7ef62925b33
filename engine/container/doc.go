// Package container completes the command line of an engine that runs in a
// container: docker run … or podman run …, as a user would write it by hand.
//
// What a container has of its own is what keeps dyn from an engine in it: its
// environment, its network, its files, and a life that does not end with the
// client on this machine. So Wrap hands the variables of the launch on by name
// (their values are in the client's own environment and on no command line),
// gives it the host's network, where the engine listens on loopback as every
// other one does, shows it the model's files at the same paths, read-only, and
// names it, so that Remove can take it away when the client was killed.
//
// The user's own options stand behind ours and go on to count: a folder that
// they show already is not shown again. Those that would put the engine out of
// reach are refused, each with its reason.
//
// Wrap reads the options up to the image, for which it has to know which of
// them take no value. One that it does not know is taken to have one.
package container
