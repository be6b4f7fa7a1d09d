//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// session is a command that leads a session of its own, so that its children are found wherever it has put them: each
// git it starts has a process group to itself and is nobody's child once the command is dead.
type session struct {
	cmd      *exec.Cmd
	out, err bytes.Buffer
}

func startSession(t *testing.T, cmd *exec.Cmd) *session {
	t.Helper()
	s := &session{cmd: cmd}
	cmd.Stdout, cmd.Stderr = &s.out, &s.err
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = time.Second // a child that outlives the command may hold its streams open
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// processes lists the session's living processes, the leader first where it lives.
func (s *session) processes(t *testing.T) []int {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	leader := s.cmd.Process.Pid
	var pids []int
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // gone since
		}
		// pid (name) state ppid pgrp session …; the name may hold anything.
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(fields) < 4 || fields[0] == "Z" || fields[0] == "X" || fields[3] != strconv.Itoa(leader) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			t.Fatal(err)
		}
		if pid == leader {
			pids = append([]int{pid}, pids...)
		} else {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killOwn kills the command alone; its children see their input end.
func (s *session) killOwn(*testing.T) { s.cmd.Process.Kill() }

// killAll kills the command and all its children in one instant: nobody goes on while the others are looked for.
func (s *session) killAll(t *testing.T) {
	t.Helper()
	stopped := map[int]bool{}
	for {
		fresh := false
		for _, pid := range s.processes(t) {
			if !stopped[pid] {
				fresh, stopped[pid] = true, true
				syscall.Kill(pid, syscall.SIGSTOP)
			}
		}
		if !fresh {
			break
		}
	}
	for pid := range stopped {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// interrupt asks the command to end, as a terminal or a supervisor would.
func (s *session) interrupt(*testing.T) { s.cmd.Process.Signal(syscall.SIGTERM) }

// wait waits for the end of the whole session: what a killed command had asked of git may happen after its death.
func (s *session) wait(t *testing.T) (reply, error) {
	t.Helper()
	s.cmd.Wait()
	for deadline := time.Now().Add(20 * time.Second); len(s.processes(t)) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return reply{}, fmt.Errorf("processes outlive their command: %v", s.processes(t))
		}
	}
	r := reply{exit: s.cmd.ProcessState.ExitCode(), stdout: s.out.String(), stderr: s.err.String()}
	if r.exit < 0 && r.stdout == "" {
		return r, nil
	}
	if r.exit < 0 { // it had answered already
		r.exit = 0
	}
	return r, r.check()
}
