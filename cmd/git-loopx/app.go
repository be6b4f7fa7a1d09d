package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"
)

// App is everything that a command needs of the world. Tests fill it with what they like; main fills it with the
// process's own. It is used for one command line and by one goroutine.
type App struct {
	Args   []string // without the program's own name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Env    []string // "NAME=value"; the last one of a name counts
	Dir    string   // where the command was given; "" is the process's own directory

	Now        func() time.Time
	Random     io.Reader
	Executable func() (string, error) // path of this program, for the commands of a tour
	IsTerminal func(stream any) bool  // nil: nothing is a terminal
	// Signals makes a context that ends at an interrupt; nil: none does. Commands that are over at once do without,
	// since it takes longer than they do.
	Signals func(context.Context) (context.Context, context.CancelFunc)
}

// Run runs one command line and returns its exit status (cli.md). Whatever happens, stdout holds one JSON document if
// the arguments ask for JSON, a panic of a rule included.
func (a *App) Run(ctx context.Context) (status int) {
	var line *commandLine
	defer func() {
		if p := recover(); p != nil {
			status = a.fail(line, &panicError{value: p, stack: string(debug.Stack())})
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	j := &job{App: a}
	defer j.close()
	line, err := parse(a.Args, func(line *commandLine, cmd command) {
		if !line.quick {
			j.openAhead(ctx, cmd)
		}
	})
	if err != nil {
		return a.fail(line, err)
	}
	j.line = line
	watching, done := a.watch(ctx, cancel, line)
	defer done()
	j.readAhead(line.command)
	if _, writes := line.command.(interface{ mutates() }); writes {
		<-watching // the others may be over before
	}
	said, err := line.command.run(ctx, j)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = errInterrupted
		}
		return a.fail(line, withPlace(err, j))
	}
	j.deliver(ctx, said)
	return a.say(line, said)
}

// watch cancels the context at an interrupt, from when watching is closed until done is called.
func (a *App) watch(ctx context.Context, cancel context.CancelFunc, line *commandLine) (watching chan struct{}, done func()) {
	watching, over := make(chan struct{}), make(chan struct{})
	if a.Signals == nil || line.quick {
		close(watching)
		return watching, func() {}
	}
	go func() {
		signals, stop := a.Signals(ctx)
		defer stop()
		defer context.AfterFunc(signals, cancel)()
		close(watching)
		<-over
	}()
	return watching, func() { close(over) }
}

// Getenv returns a variable of the command's environment, "" where it is not set.
func (a *App) Getenv(name string) string {
	for i := len(a.Env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(a.Env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// errInterrupted says that a signal ended the command.
var errInterrupted = errors.New("interrupted")

// panicError is a panic caught in Run: a defect of this program, whatever the input.
type panicError struct {
	value any
	stack string
}

func (e *panicError) Error() string { return fmt.Sprint("defect: ", e.value) }
