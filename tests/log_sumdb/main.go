// Command log_sumdb checks the verifiable log of a running server with the libraries that Go checks its own modules
// with: golang.org/x/mod/sumdb/note (signatures of checkpoints) and golang.org/x/mod/sumdb/tlog (tiles, inclusion and
// consistency proofs). Nothing here was written by whoever wrote the server's side.
//
//	go run tests/log_sumdb/main.go http://127.0.0.1:8080 pk_live_…
//	go run tests/log_sumdb/main.go http://127.0.0.1:8080 pk_live_… 2000
//
// The number is how many events and earlier sizes are checked at most, at equal distances. Entries, removals and the root are always
// checked as a whole.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// The height of the tiles of C2SP tlog-tiles, which leave it out of their paths.
const tileHeight = 8

type server struct {
	url, key string
	verifier note.Verifier
}

func check(err error, doing ...interface{}) {
	if err != nil {
		log.Fatalf("%s: %v", fmt.Sprint(doing...), err)
	}
}

func (s *server) get(path string) []byte {
	request, err := http.NewRequest("GET", s.url+"/api/v1/"+path, nil)
	check(err, path)
	request.Header.Set("Authorization", "Bearer "+s.key)
	response, err := http.DefaultClient.Do(request)
	check(err, path)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	check(err, path)
	if response.StatusCode != 200 {
		log.Fatalf("%s: %s %s", path, response.Status, body)
	}
	return body
}

func (s *server) getJSON(path string, into interface{}) {
	check(json.Unmarshal(s.get(path), into), path)
}

// open verifies the signature of a checkpoint.
func (s *server) open(checkpoint []byte) (origin string, tree tlog.Tree) {
	signed, err := note.Open(checkpoint, note.VerifierList(s.verifier))
	check(err, "open the checkpoint")
	lines := strings.Split(signed.Text, "\n")
	if len(lines) != 4 || lines[3] != "" {
		log.Fatalf("a checkpoint of %d lines: %q", len(lines), signed.Text)
	}
	_, err = fmt.Sscanf(lines[1], "%d", &tree.N)
	check(err, "read the size")
	tree.Hash, err = tlog.ParseHash(lines[2])
	check(err, "read the root")
	return lines[0], tree
}

// Height, ReadTiles and SaveTiles make a server the tlog.TileReader that tlog checks the tiles of.
func (s *server) Height() int { return tileHeight }

func (s *server) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(tiles))
	for i, tile := range tiles {
		path := strings.Replace(tile.Path(), fmt.Sprintf("tile/%d/", tileHeight), "log/tile/", 1)
		data[i] = s.get(path)
	}
	return data, nil
}

func (s *server) SaveTiles([]tlog.Tile, [][]byte) {}

type proof struct {
	Seq         int64            `json:"seq"`
	ContentHash string           `json:"content_hash"`
	Inclusion   tlog.RecordProof `json:"inclusion"`
	Checkpoint  string           `json:"checkpoint"`
}

// events gives the ids of all events.
func (s *server) events() (ids []string) {
	cursor := ""
	for {
		var page struct {
			Events []struct{ ID string }
			Cursor string
		}
		s.getJSON("events?limit=200"+cursor, &page)
		for _, event := range page.Events {
			ids = append(ids, event.ID)
		}
		if page.Cursor == "" {
			return ids
		}
		cursor = "&cursor=" + url.QueryEscape(page.Cursor)
	}
}

// checkEvent checks the inclusion proof of an event, and that tlog makes the same one from the tiles.
func (s *server) checkEvent(id string) int64 {
	var p proof
	s.getJSON("events/"+id+"/proof", &p)
	_, tree := s.open([]byte(p.Checkpoint))
	content, err := hex.DecodeString(strings.TrimPrefix(p.ContentHash, "sha256:"))
	check(err, id)
	leaf := tlog.RecordHash(content)
	check(tlog.CheckRecord(p.Inclusion, tree.N, tree.Hash, p.Seq, leaf), "inclusion of ", id)
	hashes := tlog.TileHashReader(tree, s)
	made, err := tlog.ProveRecord(tree.N, p.Seq, hashes)
	check(err, "prove ", id)
	if len(made)+len(p.Inclusion) > 0 && !reflect.DeepEqual(made, p.Inclusion) {
		log.Fatalf("%s: the proof is %v, and from the tiles %v", id, p.Inclusion, made)
	}
	leaves, err := hashes.ReadHashes([]int64{tlog.StoredHashIndex(0, p.Seq)})
	check(err, "read the leaf of ", id)
	if !bytes.Equal(leaves[0][:], leaf[:]) {
		log.Fatalf("%s is not leaf %d", id, p.Seq)
	}
	return p.Seq
}

// checkConsistency checks that the log continues what it was at an earlier size.
func (s *server) checkConsistency(from int64, tree tlog.Tree) {
	hashes := tlog.TileHashReader(tree, s)
	earlier, err := tlog.TreeHash(from, hashes)
	check(err, "root at ", from)
	var answer struct{ Consistency tlog.TreeProof }
	s.getJSON(fmt.Sprintf("log/consistency?from=%d&to=%d", from, tree.N), &answer)
	check(tlog.CheckTree(answer.Consistency, tree.N, tree.Hash, from, earlier), "consistency from ", from)
	made, err := tlog.ProveTree(tree.N, from, hashes)
	check(err, "prove consistency from ", from)
	if len(made)+len(answer.Consistency) > 0 && !reflect.DeepEqual(made, answer.Consistency) {
		log.Fatalf("consistency from %d: the proof is %v, and from the tiles %v", from, answer.Consistency, made)
	}
}

// bundle gives what the service has instead of a data tile, in the same place.
func (s *server) bundle(kind string, number int64, width int) []byte {
	tile := tlog.Tile{H: tileHeight, L: -1, N: number, W: width}
	return s.get(strings.Replace(tile.Path(), fmt.Sprintf("tile/%d/data/", tileHeight), "log/tile/"+kind+"/", 1))
}

type removal struct {
	Seq      int64  `json:"seq"`
	Kind     string `json:"kind"`
	Action   string `json:"action"`
	FirstSeq int64  `json:"first_seq"`
	EndSeq   int64  `json:"end_seq"`
	Events   int64  `json:"events"`
	Digest   string `json:"digest"`
}

// removed gives the content hashes of removed events by their places. The records of each removal must have the digest that it states.
func (s *server) removed(origin string) map[int64][]byte {
	const recordBytes, wholeEvent = 82, 0xffff
	names := strings.Split(origin, "/")
	var listed struct{ Removals []removal }
	s.getJSON("log/removals", &listed)
	removed := make(map[int64][]byte)
	for _, r := range listed.Removals {
		if r.Action != "audit.events.removed" && r.Action != "audit.events.erased" {
			continue
		}
		digest, events := sha256.New(), int64(0)
		fmt.Fprintf(digest, "audit removal 1\n%s\n%s\n", r.Kind, strings.Join(names[len(names)-2:], "/"))
		for tile := r.FirstSeq / 256; tile*256 < r.EndSeq; tile++ {
			for records := s.bundle("removed", tile, 256); len(records) > 0; records = records[recordBytes:] {
				record := records[:recordBytes]
				if int64(binary.BigEndian.Uint64(record[8:])) != r.Seq {
					continue
				}
				digest.Write(record[:8])
				digest.Write(record[16:])
				events++
				if binary.BigEndian.Uint16(record[16:]) == wholeEvent {
					removed[int64(binary.BigEndian.Uint64(record))] = record[18:50]
				}
			}
		}
		if made := fmt.Sprintf("sha256:%x", digest.Sum(nil)); made != r.Digest || events != r.Events {
			log.Fatalf("the removal at %d states %d events with %s, and its records are %d with %s", r.Seq, r.Events, r.Digest, events, made)
		}
	}
	return removed
}

// checkBundles makes the tree again from the entries of the log. Those of removed events are still there.
func (s *server) checkBundles(tree tlog.Tree, removed map[int64][]byte) {
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) (hashes []tlog.Hash, err error) {
		for _, index := range indexes {
			hashes = append(hashes, stored[index])
		}
		return hashes, nil
	})
	for first := int64(0); first < tree.N; first += 256 {
		width := tree.N - first
		if width > 256 {
			width = 256
		}
		bundle := s.bundle("entries", first/256, int(width))
		for entry := first; entry < first+width; entry++ {
			length := binary.BigEndian.Uint16(bundle)
			content := bundle[2 : 2+length]
			if gone, isGone := removed[entry]; isGone && !bytes.Equal(gone, content) {
				log.Fatalf("the removed event at %d had the content hash %x, and its record has %x", entry, content, gone)
			}
			hashes, err := tlog.StoredHashes(entry, content, reader)
			check(err, "the entry at ", entry)
			stored, bundle = append(stored, hashes...), bundle[2+length:]
		}
		if len(bundle) > 0 {
			log.Fatalf("the bundle at %d has more than %d entries", first, width)
		}
	}
	root, err := tlog.TreeHash(tree.N, reader)
	check(err, "root of the entries")
	if root != tree.Hash {
		log.Fatalf("the entries have the root %v and not %v", root, tree.Hash)
	}
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 && len(os.Args) != 4 {
		log.Fatal("usage: log_sumdb URL KEY [CHECKS]")
	}
	s := &server{url: strings.TrimSuffix(os.Args[1], "/"), key: os.Args[2]}
	verifier, err := note.NewVerifier(strings.TrimSpace(string(s.get("log/key"))))
	check(err, "read the key")
	s.verifier = verifier
	origin, tree := s.open(s.get("log/checkpoint"))
	checksMax := tree.N
	if len(os.Args) == 4 {
		checksMax, err = strconv.ParseInt(os.Args[3], 10, 64)
		check(err, "read the number of checks")
	}
	ids, removed := s.events(), s.removed(origin)
	if int64(len(ids)+len(removed)) != tree.N {
		log.Fatalf("the log has %d events, the server shows %d, and %d were removed", tree.N, len(ids), len(removed))
	}
	root, err := tlog.TreeHash(tree.N, tlog.TileHashReader(tree, s))
	check(err, "read the tree")
	if root != tree.Hash {
		log.Fatalf("the tiles have the root %v and not %v", root, tree.Hash)
	}
	seen := make(map[int64]bool)
	checked := 0
	for number := int64(0); number < int64(len(ids)); number += distance(int64(len(ids)), checksMax) {
		seq := s.checkEvent(ids[number])
		if _, isGone := removed[seq]; isGone || seen[seq] {
			log.Fatalf("%s has the place %d, which another one has or a removed one", ids[number], seq)
		}
		seen[seq] = true
		checked++
	}
	s.checkBundles(tree, removed)
	sizes := 0
	step := distance(tree.N, checksMax)
	for from := int64(1); from <= tree.N; from++ {
		// All near the ends of tiles and subtrees, and some between.
		near := (from+2)%256 < 4 || from < 20 || tree.N-from < 20 || from&(from-1) == 0 || from%37 == 0
		if near && (step == 1 || from%step == 0) {
			s.checkConsistency(from, tree)
			sizes++
		}
	}
	fmt.Printf("%s: %d events included, %d removed, %d proofs, consistent with %d earlier sizes\n", origin, len(ids), len(removed), checked, sizes)
}

// distance is between those that are checked, of so many.
func distance(all, checksMax int64) int64 {
	return (all+checksMax-1)/checksMax
}
