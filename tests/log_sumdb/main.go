// Command log_sumdb checks the verifiable log of a running server with the libraries that Go checks its own modules
// with: golang.org/x/mod/sumdb/note (signatures of checkpoints) and golang.org/x/mod/sumdb/tlog (tiles, inclusion and
// consistency proofs). Nothing here was written by whoever wrote the server's side.
//
//	go run tests/log_sumdb/main.go http://127.0.0.1:8080 pk_live_…
package main

import (
	"bytes"
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

// checkBundles makes the tree again from the entries of the log.
func (s *server) checkBundles(tree tlog.Tree) {
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) (hashes []tlog.Hash, err error) {
		for _, index := range indexes {
			hashes = append(hashes, stored[index])
		}
		return hashes, nil
	})
	for first := int64(0); first < tree.N; first += 256 {
		tile := tlog.Tile{H: tileHeight, L: -1, N: first / 256, W: 256}
		if tree.N-first < 256 {
			tile.W = int(tree.N - first)
		}
		path := strings.Replace(tile.Path(), fmt.Sprintf("tile/%d/data/", tileHeight), "log/tile/entries/", 1)
		bundle := s.get(path)
		for entry := int64(0); entry < int64(tile.W); entry++ {
			length := binary.BigEndian.Uint16(bundle)
			hashes, err := tlog.StoredHashes(first+entry, bundle[2:2+length], reader)
			check(err, path)
			stored, bundle = append(stored, hashes...), bundle[2+length:]
		}
		if len(bundle) > 0 {
			log.Fatalf("%s has more than %d entries", path, tile.W)
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
	if len(os.Args) != 3 {
		log.Fatal("usage: log_sumdb URL KEY")
	}
	s := &server{url: strings.TrimSuffix(os.Args[1], "/"), key: os.Args[2]}
	verifier, err := note.NewVerifier(strings.TrimSpace(string(s.get("log/key"))))
	check(err, "read the key")
	s.verifier = verifier
	origin, tree := s.open(s.get("log/checkpoint"))
	ids := s.events()
	if int64(len(ids)) != tree.N {
		log.Fatalf("the log has %d events and the server shows %d", tree.N, len(ids))
	}
	root, err := tlog.TreeHash(tree.N, tlog.TileHashReader(tree, s))
	check(err, "read the tree")
	if root != tree.Hash {
		log.Fatalf("the tiles have the root %v and not %v", root, tree.Hash)
	}
	seen := make(map[int64]bool)
	for _, id := range ids {
		seen[s.checkEvent(id)] = true
	}
	if len(seen) != len(ids) {
		log.Fatalf("%d events have %d places", len(ids), len(seen))
	}
	s.checkBundles(tree)
	sizes := 0
	for from := int64(1); from <= tree.N; from++ {
		// All near the ends of tiles and subtrees, and some between.
		near := (from+2)%256 < 4 || from < 20 || tree.N-from < 20 || from&(from-1) == 0 || from%37 == 0
		if near {
			s.checkConsistency(from, tree)
			sizes++
		}
	}
	fmt.Printf("%s: %d events included, consistent with %d earlier sizes\n", origin, len(ids), sizes)
}
