package gitstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxObject is the size in bytes of the largest object that is read: far above any record or tree of ours, so that a
// ref that came from elsewhere cannot fill the memory.
const maxObject = 16 << 20

// deltaCache bounds what git keeps of deltified objects, 96 MiB by default: ours are small.
const deltaCache = "core.deltaBaseCacheLimit=16m"

var errTooLarge = fmt.Errorf("the object is larger than %d bytes", maxObject)

// catFile is the long-lived git cat-file --batch-command of a process: the reference path for objects. It is started
// when first needed, asked only for full ids, and started anew when it ends, as gits before 2.45 do at an absent
// promised object.
type catFile struct {
	git *git
	ctx context.Context // outlives an interrupt: what was done is still read back, each read under a context of its own

	mu     sync.Mutex
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stop   context.CancelFunc
}

func (c *catFile) start() error {
	ctx, stop := context.WithCancel(c.ctx)
	cmd := c.git.command(ctx, "-c", deltaCache, "cat-file", "--batch-command")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		stop()
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		stop()
		return err
	}
	if err := cmd.Start(); err != nil {
		stop()
		return err
	}
	c.cmd, c.stdin, c.stdout, c.stop = cmd, stdin, bufio.NewReaderSize(stdout, 64<<10), stop
	return nil
}

// end lets the child go, without waiting for it: its input is closed, which it takes for the end.
func (c *catFile) end() {
	if c.cmd == nil {
		return
	}
	c.stdin.Close()
	cmd, stop := c.cmd, c.stop
	c.cmd = nil
	go func() {
		cmd.Wait()
		stop()
	}()
}

func (c *catFile) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end()
}

// answer is what git said of one object; err is ErrObjectMissing or a failure to read.
type answer struct {
	kind    kind
	content []byte
	err     error
}

// read asks for objects in order and hands each answer to each; questions are written while answers are read.
func (c *catFile) read(ctx context.Context, ids []ObjectID, each func(i int, a answer) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at, again := 0, false; at < len(ids); {
		n, err := c.stream(ctx, ids[at:], func(i int, a answer) error { return each(at+i, a) })
		at += n
		again = again && n == 0
		if err == nil {
			continue
		}
		c.end()
		if !errors.Is(err, errEnded) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// The child ended at this object. A git before 2.45 does so where a promised object is not here, every time.
		if !again {
			again = true
			continue
		}
		again = false
		if err := each(at, answer{err: ErrObjectMissing}); err != nil {
			return err
		}
		at++
	}
	return nil
}

var errEnded = errors.New("git cat-file ended")

// stream asks for all ids and returns how many were answered.
func (c *catFile) stream(ctx context.Context, ids []ObjectID, each func(int, answer) error) (int, error) {
	if c.cmd == nil {
		if err := c.start(); err != nil {
			return 0, err
		}
	}
	watch := context.AfterFunc(ctx, c.stop)
	defer watch()
	late := time.AfterFunc(childDeadline, c.stop)
	defer late.Stop()
	wrote := make(chan struct{})
	go func(w io.Writer) {
		defer close(wrote)
		b := bufio.NewWriter(w)
		for _, id := range ids {
			if _, err := fmt.Fprintf(b, "contents %s\n", id); err != nil {
				return
			}
		}
		b.Flush()
	}(c.stdin)
	for i, id := range ids {
		a, err := readAnswer(c.stdout, id)
		if err != nil {
			c.stop()
			<-wrote
			return i, err
		}
		late.Reset(childDeadline)
		if err := each(i, a); err != nil {
			c.stop()
			<-wrote
			return i, err
		}
	}
	<-wrote
	return len(ids), nil
}

// readAnswer reads "<id> <type> <size> LF <content> LF" or "<id> missing LF".
func readAnswer(r *bufio.Reader, id ObjectID) (answer, error) {
	head, err := r.ReadString('\n')
	if err != nil {
		return answer{}, errEnded
	}
	k, size, err := parseHead(strings.TrimSuffix(head, "\n"), id)
	if err != nil {
		return answer{}, err
	}
	if size < 0 {
		return answer{err: ErrObjectMissing}, nil
	}
	if size > maxObject {
		if _, err := io.CopyN(io.Discard, r, size+1); err != nil {
			return answer{}, errEnded
		}
		return answer{err: errTooLarge}, nil
	}
	content, err := readContent(r, size)
	if err != nil {
		return answer{}, errEnded
	}
	return answer{kind: k, content: content}, nil
}

// parseHead reads the first line of an answer; the size is -1 for an object that is not here.
func parseHead(line string, id ObjectID) (kind, int64, error) {
	unexpected := fmt.Errorf("git cat-file answered %q for %s", line, id)
	rest, ok := strings.CutPrefix(line, string(id)+" ")
	if !ok {
		return "", 0, unexpected
	}
	if rest == "missing" {
		return "", -1, nil
	}
	name, digits, ok := strings.Cut(rest, " ")
	if !ok || name == "" {
		return "", 0, unexpected
	}
	size, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || size < 0 {
		return "", 0, unexpected
	}
	return kind(name), size, nil
}

// readContent reads size bytes and the newline after them, growing only as bytes arrive.
func readContent(r *bufio.Reader, size int64) ([]byte, error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, size); err != nil {
		return nil, err
	}
	if c, err := r.ReadByte(); err != nil || c != '\n' {
		return nil, errEnded
	}
	return b.Bytes(), nil
}
