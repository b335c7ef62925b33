// Package install puts inference engines into folders of their own, finds the
// ones that are there, and fetches model files. It needs no rights but the
// user's, and touches nothing outside its folders and the caches of uv and pip.
//
// The nouns: an engine of the catalog is one that dyn knows how to install; its
// builds are what is installed on different machines, each pinned to a version.
// A Host is what matters of this machine. A Plan is the steps of one
// installation, as data: it is worked out without effects, so that it can be
// printed and tested. A Store is the folder of installed engines and carries
// plans out. A Program is a command that runs an engine, wherever it came from.
//
// A store is laid out so:
//
//	<dir>/.lock                     held while something is changed
//	<dir>/.new-*                    an installation that is not done
//	<dir>/<engine>/<version>/       one installation, a Python environment
//	<dir>/<engine>/<version>/install.json   what it is; written last
//
// An installation is made beside the others and renamed when its check has
// passed, so a folder with a version's name is whole. What a crash leaves is
// removed by the next installation. Words of a Program are kept relative to the
// folder, and no script of the environment is run, because scripts hold the
// path at which they were made. The version before stays until it is removed:
// workers may run from it.
//
// Packages come by uv where there is one, else by python3 -m venv and pip, from
// the index that those are set up for. Their output is the progress: packages
// and bytes as they tell them.
//
// Where a program comes from, the first that is there: the user's command, see
// Words; an installation; a program on PATH. For llama.cpp PATH goes before an
// installation, because what a user built for his machine is faster than what
// is built for all.
//
// A package of llama-server may hold code for another CPU and die only when it
// computes, so Probe takes one real token, which needs a model.
//
// Everything here may be called at once; the lock, which other processes heed
// too, lets one change the store. Cost: an installation is minutes and up to
// 9 GB of disk, a Find is a few file reads.
package install
