// Command git-loopx lets one coding agent or person stop and another go on in the same repository. It is run as
// "git loopx" wherever it is on PATH.
//
// This package is the world of the program: arguments, files, clock, random bytes, streams. It adds no rule of its own;
// those are in packages todo and handoff, and everything stored goes through package gitstore.
//
// Reading order: [App.Run] in app.go follows one command line from its words to its exit status; grammar.go finds the
// verb and lets kong fill its flags; job.go gives a verb its repository and defaults; answer.go and failure.go are the
// two things a verb can say; errors.go is the one table from error to reason code, exit status and hint.
package main

import (
	"context"
	"crypto/rand"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	app := &App{
		Args:       os.Args[1:],
		Stdin:      os.Stdin,
		Stdout:     os.Stdout,
		Stderr:     os.Stderr,
		Env:        os.Environ(),
		Now:        time.Now,
		Random:     rand.Reader,
		Executable: os.Executable,
		IsTerminal: isTerminal,
		Signals:    signals,
	}
	os.Exit(app.Run(context.Background()))
}

// signals turns an interrupt into the end of the context. A second one ends the process at once. A print to a pipe
// whose reader has gone becomes an error like another, and no reason to die between a swap and its answer.
func signals(ctx context.Context) (context.Context, context.CancelFunc) {
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// isTerminal reports whether a stream is a character device that is not the null device.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull
}
