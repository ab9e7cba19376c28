package models

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Kind is the one-letter prefix of an id: what sort of thing it names.
type Kind string

// The kinds of ids: the letters that they begin with.
const (
	KindLink   Kind = "l"
	KindTag    Kind = "g"
	KindTarget Kind = "t"
	KindCheck  Kind = "c" // a check result

	KindSource     Kind = "s" // a site to crawl
	KindJob        Kind = "j" // a crawl on a schedule
	KindExecution  Kind = "e" // one run of a job
	KindFrontier   Kind = "f" // an entry of the frontier
	KindDiscovered Kind = "d" // a discovered link
	KindCrawled    Kind = "k" // a crawled page
	KindFeed       Kind = "h" // a feed of a source

	KindWebsite    Kind = "w" // a site whose pages are submitted to search engines
	KindSitemap    Kind = "m"
	KindPage       Kind = "p" // a page of a website
	KindSubmission Kind = "n" // what a search engine was told

	KindChannel     Kind = "a" // where alerts are sent
	KindRule        Kind = "r" // which alerts are sent where; rules are not told from runs
	KindAlert       Kind = "v"
	KindMaintenance Kind = "x" // a time without alerts

	KindUser  Kind = "u" // an account; accounts are not told from changes
	KindToken Kind = "y" // an API token; tokens are not told from deliveries
	KindAudit Kind = "q" // an entry of the audit log; entries are not told from versions
)

// Kinds of ids that stay inside the program.
const (
	KindChange     Kind = "u" // an undoable change
	KindRefresh    Kind = "b" // a batch of links to refresh
	KindRun        Kind = "r" // one run of a scheduled job
	KindOutage     Kind = "o" // a time in which a target was down
	KindStatusPage Kind = "h" // the public page of a group of targets; they are not told from feeds
	KindInstance   Kind = "i" // a running program
	KindVersion    Kind = "q" // a version of a crawled page
	KindBroken     Kind = "z" // a broken link of a crawl
	KindDelivery   Kind = "y" // a message to a channel
	KindSession    Kind = "s" // a login; sessions are not told from sources
)

const (
	idDigits = 22 // base62 digits that hold 128 bits
	alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewID makes an id of a kind: the prefix, "_" and 22 characters of base62
// over a UUIDv7. Its digits are of a fixed width and in ASCII order, so ids
// sort by creation.
func NewID(k Kind) string {
	u := uuid.Must(uuid.NewV7()) // fails only if the system has no randomness
	return string(k) + "_" + base62(u)
}

// TimedID is the id of what happened at t and is told from all else of that
// microsecond by n (at least 0). It need not be stored, since it can be made
// again. It is the UUIDv7 that RFC 9562 (6.2, method 3) allows: milliseconds,
// then the microseconds within them, then n.
func TimedID(k Kind, t Time, n int64) string {
	us := uint64(t.UnixMicro())
	var u uuid.UUID
	binary.BigEndian.PutUint64(u[:8], us/1000<<16|7<<12|us%1000)
	binary.BigEndian.PutUint64(u[8:], 1<<63|uint64(n))
	return string(k) + "_" + base62(u)
}

// ParseTimedID is the t and n that TimedID was given.
func ParseTimedID(k Kind, s string) (t Time, n int64, err error) {
	if err := CheckID(k, s); err != nil {
		return Time{}, 0, err
	}
	sum := new(big.Int)
	for _, digit := range []byte(s[len(k)+1:]) {
		sum.Mul(sum, big.NewInt(62))
		sum.Add(sum, big.NewInt(int64(strings.IndexByte(alphabet, digit))))
	}
	var u uuid.UUID
	if sum.BitLen() > 8*len(u) {
		return Time{}, 0, fmt.Errorf("not an id of kind %q", k)
	}
	sum.FillBytes(u[:])
	head, tail := binary.BigEndian.Uint64(u[:8]), binary.BigEndian.Uint64(u[8:])
	return At(time.UnixMicro(int64(head>>16*1000 + head&0xfff))), int64(tail &^ (3 << 62)), nil
}

// CheckID says whether s looks like an id of kind k. A store asks before it
// queries, so that a stranger's text of any length is answered "not found"
// without a look-up.
func CheckID(k Kind, s string) error {
	digits, ok := strings.CutPrefix(s, string(k)+"_")
	if !ok || len(digits) != idDigits || strings.Trim(digits, alphabet) != "" {
		return fmt.Errorf("not an id of kind %q", k)
	}
	return nil
}

func base62(u uuid.UUID) string {
	n, base, digit := new(big.Int).SetBytes(u[:]), big.NewInt(62), new(big.Int)
	var out [idDigits]byte
	for i := idDigits - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = alphabet[digit.Int64()]
	}
	return string(out[:])
}
