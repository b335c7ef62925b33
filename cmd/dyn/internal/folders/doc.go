// Package folders says where dyn keeps its files, by the XDG rules: what the
// user writes in the config folder, what must outlive a restart in the state
// folder, installed engines in the data folder, what can be made again in the
// cache folder.
//
// One daemon lives per state folder. Its run folder, inside the state folder,
// holds the lock that decides who lives, the run file that says who that is,
// and the control socket. A socket's path may have 107 bytes; where the run
// folder is deeper than that the socket goes to a short folder of its own,
// made for this user alone, in XDG_RUNTIME_DIR or the temporary folder.
//
// Everything here is made with mode 0700 or 0600. Nothing is created before
// it is needed: asking for a path touches no disk.
package folders
