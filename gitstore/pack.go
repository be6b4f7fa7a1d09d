package gitstore

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// keepReason begins our .keep files, by which doctor knows them; process id and randomness follow.
const keepReason = "loopx"

// gcPidAge is how long git takes a gc.pid for a running gc.
const gcPidAge = 12 * time.Hour

// encodePack writes a pack of whole objects, without deltas: what index-pack and unpack-objects read.
func encodePack(f Format, objects []object) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("PACK")
	for _, n := range []uint32{2, uint32(len(objects))} {
		if err := binary.Write(&b, binary.BigEndian, n); err != nil {
			return nil, err
		}
	}
	z, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		size := uint64(len(o.content))
		c := byte(o.kind.plumbingType())<<4 | byte(size&0x0f)
		for size >>= 4; size > 0; size >>= 7 {
			b.WriteByte(c | 0x80)
			c = byte(size & 0x7f)
		}
		b.WriteByte(c)
		z.Reset(&b)
		if _, err := z.Write(o.content); err != nil {
			return nil, err
		}
		if err := z.Close(); err != nil {
			return nil, err
		}
	}
	h := f.hasher()
	h.Write(b.Bytes())
	return h.Sum(b.Bytes()), nil
}

// collecting reports whether git removes unreachable objects now, as far as it says so in a file.
func (r *Repository) collecting() bool {
	if _, err := os.Lstat(filepath.Join(r.objectDir, "maintenance.lock")); err == nil {
		return true
	}
	path := filepath.Join(r.commonDir, "gc.pid")
	info, err := os.Lstat(path)
	if err != nil || time.Since(info.ModTime()) >= gcPidAge {
		return false
	}
	b, err := os.ReadFile(path)
	return err != nil || !endedHere(string(b))
}

// endedHere reports whether a gc.pid, "<pid> <host>", names a process of this host that is no more.
func endedHere(content string) bool {
	var pid int
	var on string
	if n, _ := fmt.Sscanf(content, "%d %s", &pid, &on); n != 2 || pid <= 0 {
		return false
	}
	host, err := os.Hostname()
	return err == nil && on == host && !processAlive(pid)
}

// keptPack is a pack that no gc touches until it is released.
type keptPack struct {
	pack    string // its file
	release func()
}

// there reports whether the pack is still what it was.
func (k *keptPack) there() bool {
	_, err := os.Lstat(k.pack)
	return err == nil
}

// writeKept stores objects as one pack that is kept until it is released. It must be released when writing failed, too:
// a git whose temporary pack a gc removed under it leaves its .keep file.
//
// A blob of random text makes every pack one of its own. Packs are named after their content, and a repack that listed
// a pack while it was not kept removes it in the end, also if a second attempt has kept it meanwhile.
func (r *Repository) writeKept(ctx context.Context, objects []object, sync bool) (*keptPack, error) {
	reason, err := r.tempName(keepReason)
	if err != nil {
		return &keptPack{release: func() {}}, &WriteError{Err: err}
	}
	objects = append(slices.Clone(objects), newObject(r.format, blobKind, []byte(reason+"\n")))
	kept := &keptPack{release: func() {
		files, _ := r.keptPacks()
		for _, path := range files {
			if b, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(b)) == reason {
				os.Remove(path)
			}
		}
	}}
	out, err := r.packInto(ctx, objects, sync, "index-pack", "--stdin", "--keep="+reason)
	if err != nil {
		return kept, err
	}
	_, name, ok := strings.Cut(strings.TrimSpace(string(out)), "\t")
	if !ok || !r.format.Valid(ObjectID(name)) {
		return kept, &WriteError{Err: fmt.Errorf("git index-pack answered %q", out)}
	}
	kept.pack = filepath.Join(r.objectDir, "pack", "pack-"+name+".pack")
	if !sync {
		return kept, nil
	}
	return kept, syncAll(map[string]bool{filepath.Join(r.objectDir, "pack"): true, r.objectDir: true})
}

// stored reports whether all objects are still there as loose files: a gc that ran meanwhile may have removed them, as
// nothing refers to them yet.
func (r *Repository) stored(objects []object) bool {
	for _, o := range objects {
		if _, err := os.Lstat(r.loosePath(o.id)); err != nil {
			return false
		}
	}
	return true
}

// writeUnpacked lets git itself store objects, loose: with the modes, syncs and extensions that the repository asks for.
func (r *Repository) writeUnpacked(ctx context.Context, objects []object, sync bool) error {
	_, err := r.packInto(ctx, objects, sync, "unpack-objects", "-q")
	if err != nil || !sync {
		return err
	}
	dirs := map[string]bool{r.objectDir: true}
	for _, o := range objects {
		if dir := filepath.Dir(r.loosePath(o.id)); isDir(dir) {
			dirs[dir] = true
		}
	}
	return syncAll(dirs)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// packInto feeds objects as a pack to a git command.
func (r *Repository) packInto(ctx context.Context, objects []object, sync bool, args ...string) ([]byte, error) {
	pack, err := encodePack(r.format, objects)
	if err != nil {
		return nil, &WriteError{Err: err}
	}
	var config []string
	if sync {
		config = []string{"-c", "core.fsync=loose-object,pack,pack-metadata", "-c", "core.fsyncMethod=fsync"}
	}
	out, err := r.git.run(ctx, pack, append(config, args...)...)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &WriteError{Err: err}
	}
	return out, nil
}

// keptPacks lists .keep files of ours. An empty one without a pack is what a git killed before it wrote the reason
// leaves; nobody needs it.
func (r *Repository) keptPacks() ([]string, error) {
	dir := filepath.Join(r.objectDir, "pack")
	names, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var kept []string
	for _, n := range names {
		if !strings.HasSuffix(n.Name(), ".keep") {
			continue
		}
		path := filepath.Join(dir, n.Name())
		b, err := os.ReadFile(path)
		_, serr := os.Lstat(strings.TrimSuffix(path, ".keep") + ".pack")
		if err == nil && (strings.HasPrefix(string(b), keepReason+"_") || len(b) == 0 && errors.Is(serr, fs.ErrNotExist)) {
			kept = append(kept, path)
		}
	}
	return kept, nil
}
