// Command log_witness is a witness (C2SP tlog-witness) on Go's library of verifiable logs: golang.org/x/mod/sumdb/note verifies
// the signatures of the log and golang.org/x/mod/sumdb/tlog the consistency proofs. It keeps its state in memory.
//
//	go run tests/log_witness/main.go witness.example/go audit.example.com+4ffeabe4+AQ…
package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// cosigner makes timestamped signatures (C2SP tlog-cosignature).
type cosigner struct {
	name string
	hash uint32
	key  ed25519.PrivateKey
}

func (c *cosigner) Name() string    { return c.name }
func (c *cosigner) KeyHash() uint32 { return c.hash }

func (c *cosigner) Sign(text []byte) ([]byte, error) {
	now := uint64(time.Now().Unix())
	signed := fmt.Sprintf("cosignature/v1\ntime %d\n%s", now, text)
	return append(binary.BigEndian.AppendUint64(nil, now), ed25519.Sign(c.key, []byte(signed))...), nil
}

type witness struct {
	sync.Mutex
	cosigner cosigner
	log      note.Verifier
	trees    map[string]tlog.Tree
}

// add returns the signature lines, or a status and a text.
func (w *witness) add(body string) (string, int, string) {
	head, checkpoint, found := strings.Cut(body, "\n\n")
	if !found {
		return "", 400, "no checkpoint"
	}
	lines := strings.Split(head, "\n")
	var old int64
	if _, err := fmt.Sscanf(lines[0], "old %d", &old); err != nil {
		return "", 400, err.Error()
	}
	var proof tlog.TreeProof
	for _, line := range lines[1:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return "", 400, err.Error()
		}
		proof = append(proof, hash)
	}
	origin, _, _ := strings.Cut(checkpoint, "\n")
	if !strings.HasPrefix(origin, w.log.Name()+"/") {
		return "", 404, "unknown log"
	}
	signed, err := note.Open([]byte(checkpoint), note.VerifierList(w.log))
	if err != nil {
		return "", 403, err.Error()
	}
	texts := strings.Split(signed.Text, "\n")
	tree := tlog.Tree{}
	if _, err := fmt.Sscan(texts[1], &tree.N); err != nil {
		return "", 400, err.Error()
	}
	if tree.Hash, err = tlog.ParseHash(texts[2]); err != nil {
		return "", 400, err.Error()
	}
	w.Lock()
	defer w.Unlock()
	last := w.trees[origin]
	switch {
	case old > tree.N:
		return "", 400, "old size"
	case old != last.N:
		return "", 409, fmt.Sprintf("%d\n", last.N)
	case last.N == tree.N && last.Hash != tree.Hash:
		return "", 422, "another root"
	case last.N > 0 && last.N < tree.N:
		if err := tlog.CheckTree(proof, tree.N, tree.Hash, last.N, last.Hash); err != nil {
			return "", 422, err.Error()
		}
	}
	cosigned, err := note.Sign(&note.Note{Text: signed.Text}, &w.cosigner)
	if err != nil {
		return "", 500, err.Error()
	}
	w.trees[origin] = tree
	return strings.TrimPrefix(string(cosigned), signed.Text+"\n"), 200, ""
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	verifier, err := note.NewVerifier(os.Args[2])
	check(err)
	public, private, err := ed25519.GenerateKey(rand.Reader)
	check(err)
	typed := append([]byte{4}, public...)
	name := os.Args[1]
	hash := sha256.Sum256(append([]byte(name+"\n"), typed...))
	w := &witness{
		cosigner: cosigner{name, binary.BigEndian.Uint32(hash[:]), private},
		log:      verifier,
		trees:    map[string]tlog.Tree{},
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Printf("witness key: %s+%08x+%s\n", name, w.cosigner.hash, base64.StdEncoding.EncodeToString(typed))
	fmt.Printf("listening on http://%s\n", listener.Addr())
	http.HandleFunc("/add-checkpoint", func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		cosigned, status, reason := w.add(string(body))
		if status != 200 {
			response.WriteHeader(status)
			cosigned = reason
		}
		io.WriteString(response, cosigned)
	})
	check(http.Serve(listener, nil))
}
