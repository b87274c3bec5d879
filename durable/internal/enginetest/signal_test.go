package enginetest

import (
	"os"
	"os/signal"
	"syscall"
)

// notify delivers the signal of a deploy.
func notify(ended chan<- os.Signal) { signal.Notify(ended, syscall.SIGTERM) }
