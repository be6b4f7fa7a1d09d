package gitstore

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"
)

// A table file is one header line, one fixed-size record per row (key, end of name, end of data), the names, the data.
//
//	loopx.table/2 <version> <dir> <tree> <rows> <bytes of names> <crc32c of records and names> <crc32c of data>
//
// The tree is the id that the rows were made from, "-" for none. Records and names can be read, and are checked, without
// the data.

const tableMagic = "loopx.table/2"

// recordSize is the length of one record: key and two ends of 4 bytes.
const recordSize = KeySize + 8

// tableHead says what a table was made from.
type tableHead struct {
	version, dir string
	tree         ObjectID
}

var errTable = errors.New("not a table of this program")

// checksum guards the body of a table file against damage. Its table is made when first needed, not at every start.
func checksum(body []byte) uint32 { return crc32.Checksum(body, castagnoli()) }

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// encodeTable writes a table file.
func encodeTable(head tableHead, rows []Row) []byte {
	var names, size int
	for _, row := range rows {
		names += len(row.Name)
		size += len(row.Data)
	}
	body := make([]byte, 0, len(rows)*recordSize+names+size)
	nameEnd, dataEnd := 0, 0
	for _, row := range rows {
		nameEnd += len(row.Name)
		dataEnd += len(row.Data)
		body = append(body, row.Key[:]...)
		body = binary.LittleEndian.AppendUint32(body, uint32(nameEnd))
		body = binary.LittleEndian.AppendUint32(body, uint32(dataEnd))
	}
	for _, row := range rows {
		body = append(body, row.Name...)
	}
	for _, row := range rows {
		body = append(body, row.Data...)
	}
	tree := head.tree
	if tree == "" {
		tree = "-"
	}
	index := len(rows)*recordSize + names
	line := fmt.Sprintf("%s %q %q %s %d %d %08x %08x\n", tableMagic, head.version, head.dir, tree, len(rows), names,
		checksum(body[:index]), checksum(body[index:]))
	return append([]byte(line), body...)
}

// tableIndex is what the header line of a table file says.
type tableIndex struct {
	tree              ObjectID
	count, names      int
	indexSum, dataSum uint32
}

// size is the length of records and names.
func (x tableIndex) size() int { return x.count*recordSize + x.names }

// maxTable bounds what a header may claim: 1 GiB of records and names.
const maxTable = 1 << 30

// decodeTableHead reads the header line of a table of the wanted version and directory.
func decodeTableHead(line []byte, f Format, want tableHead) (tableIndex, error) {
	var (
		x                   tableIndex
		magic, version, dir string
	)
	_, err := fmt.Sscanf(string(line), "%s %q %q %s %d %d %x %x", &magic, &version, &dir, &x.tree, &x.count, &x.names, &x.indexSum, &x.dataSum)
	if err != nil || magic != tableMagic || version != want.version || dir != want.dir {
		return x, errTable
	}
	if x.tree == "-" {
		x.tree = ""
	} else if !f.Valid(x.tree) {
		return x, errTable
	}
	if x.count < 0 || x.names < 0 || x.count > maxTable/recordSize || x.names > maxTable {
		return x, errTable
	}
	return x, nil
}

// decodeRows reads records and names, and with them the data; nil data gives rows without it.
func (x tableIndex) decodeRows(index, data []byte) ([]Row, error) {
	if len(index) != x.size() || checksum(index) != x.indexSum || data != nil && checksum(data) != x.dataSum {
		return nil, errTable
	}
	records, names := index[:x.count*recordSize], string(index[x.count*recordSize:])
	rows := make([]Row, x.count)
	nameAt, dataAt := 0, 0
	for i := range rows {
		record := records[i*recordSize : (i+1)*recordSize]
		nameEnd := int(binary.LittleEndian.Uint32(record[KeySize:]))
		dataEnd := int(binary.LittleEndian.Uint32(record[KeySize+4:]))
		if nameEnd < nameAt || nameEnd > len(names) || dataEnd < dataAt || data != nil && dataEnd > len(data) {
			return nil, errTable
		}
		rows[i] = Row{Name: names[nameAt:nameEnd], Key: [KeySize]byte(record[:KeySize])}
		if data != nil {
			rows[i].Data = data[dataAt:dataEnd:dataEnd]
		}
		nameAt, dataAt = nameEnd, dataEnd
	}
	if nameAt != len(names) || data != nil && dataAt != len(data) {
		return nil, errTable
	}
	return rows, nil
}

// decodeTable reads a table file; it returns the rows and the tree they are from.
func decodeTable(b []byte, f Format, want tableHead) ([]Row, ObjectID, error) {
	line, body, ok := bytes.Cut(b, []byte{'\n'})
	if !ok {
		return nil, "", errTable
	}
	x, err := decodeTableHead(line, f, want)
	if err != nil || x.size() > len(body) {
		return nil, "", errTable
	}
	rows, err := x.decodeRows(body[:x.size()], body[x.size():])
	return rows, x.tree, err
}

// readTable reads a table file, with keysOnly without the data of its rows.
func readTable(path string, f Format, want tableHead, keysOnly bool) ([]Row, ObjectID, error) {
	if !keysOnly {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, "", err
		}
		return decodeTable(b, f, want)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	r := bufio.NewReader(file)
	line, err := r.ReadSlice('\n')
	if err != nil {
		return nil, "", err
	}
	x, err := decodeTableHead(line[:len(line)-1], f, want)
	if err != nil {
		return nil, "", err
	}
	if info, err := file.Stat(); err != nil || info.Size() < int64(x.size()) {
		return nil, "", errTable
	}
	index := make([]byte, x.size())
	if _, err := io.ReadFull(r, index); err != nil {
		return nil, "", err
	}
	rows, err := x.decodeRows(index, nil)
	return rows, x.tree, err
}
