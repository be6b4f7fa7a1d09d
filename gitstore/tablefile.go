package gitstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"sync"
)

// A table file is one header line, one fixed-size record per row (key, end of name, end of data), the names, the data.
//
//	loopx.table/1 <version> <dir> <tree> <rows> <bytes of names> <crc32c of all that follows>
//
// The tree is the id that the rows were made from, "-" for none.

const tableMagic = "loopx.table/1"

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
	line := fmt.Sprintf("%s %q %q %s %d %d %08x\n", tableMagic, head.version, head.dir, tree, len(rows), names,
		checksum(body))
	return append([]byte(line), body...)
}

// decodeTable reads a table file of the wanted version and directory; it returns the rows and the tree they are from.
func decodeTable(b []byte, f Format, want tableHead) ([]Row, ObjectID, error) {
	line, body, ok := bytes.Cut(b, []byte{'\n'})
	if !ok {
		return nil, "", errTable
	}
	var (
		magic, version, dir string
		tree                ObjectID
		count, names        int
		sum                 uint32
	)
	_, err := fmt.Sscanf(string(line), "%s %q %q %s %d %d %x", &magic, &version, &dir, &tree, &count, &names, &sum)
	if err != nil || magic != tableMagic || version != want.version || dir != want.dir {
		return nil, "", errTable
	}
	if tree == "-" {
		tree = ""
	} else if !f.Valid(tree) {
		return nil, "", errTable
	}
	if count < 0 || names < 0 || count > len(body)/recordSize || names > len(body)-count*recordSize ||
		checksum(body) != sum {
		return nil, "", errTable
	}
	records, rest := body[:count*recordSize], body[count*recordSize:]
	allNames, data := string(rest[:names]), rest[names:]
	rows := make([]Row, count)
	nameAt, dataAt := 0, 0
	for i := range rows {
		record := records[i*recordSize : (i+1)*recordSize]
		nameEnd := int(binary.LittleEndian.Uint32(record[KeySize:]))
		dataEnd := int(binary.LittleEndian.Uint32(record[KeySize+4:]))
		if nameEnd < nameAt || nameEnd > len(allNames) || dataEnd < dataAt || dataEnd > len(data) {
			return nil, "", errTable
		}
		rows[i] = Row{Name: allNames[nameAt:nameEnd], Key: [KeySize]byte(record[:KeySize]), Data: data[dataAt:dataEnd:dataEnd]}
		nameAt, dataAt = nameEnd, dataEnd
	}
	if nameAt != len(allNames) || dataAt != len(data) {
		return nil, "", errTable
	}
	return rows, tree, nil
}

// readTable reads a table file.
func readTable(path string, f Format, want tableHead) ([]Row, ObjectID, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	return decodeTable(b, f, want)
}
