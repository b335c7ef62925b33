package install

import "errors"

// Why an engine cannot be installed, found or removed.
var (
	ErrUnknown   = errors.New("no such engine")
	ErrNoBuild   = errors.New("nothing to install on this machine")
	ErrNoPython  = errors.New("no Python to install with")
	ErrNoRoom    = errors.New("not enough disk")
	ErrNoWheel   = errors.New("a package is missing")
	ErrNoNetwork = errors.New("the package index cannot be reached")
	ErrBusy      = errors.New("another installation is running")
	ErrInUse     = errors.New("a process runs from it")
	ErrMissing   = errors.New("not installed")
)

// What is wrong with a program or a file.
var (
	ErrCPU  = errors.New("it is built for another CPU")
	ErrDead = errors.New("it gave no token")
	ErrSum  = errors.New("not the file that it should be")
)
