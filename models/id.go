package models

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Kind is the one-letter prefix of an id, which shows the type of the object.
type Kind string

// Kinds of ids in the API. Some letters have two uses, of objects that never share a list.
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
	KindSubmission Kind = "n" // a submission to a search engine

	KindChannel     Kind = "a" // a destination of alerts
	KindRule        Kind = "r" // which alerts are sent where; also KindRun
	KindAlert       Kind = "v"
	KindMaintenance Kind = "x" // a period without alerts

	KindUser  Kind = "u" // an account; also KindChange
	KindToken Kind = "y" // an API token; also KindDelivery
	KindAudit Kind = "q" // an entry of the audit log; also KindVersion
)

// Kinds of internal ids.
const (
	KindChange     Kind = "u" // an undoable change
	KindRefresh    Kind = "b" // a batch of links to refresh
	KindRun        Kind = "r" // one run of a scheduled job
	KindOutage     Kind = "o" // a period in which a target was down
	KindStatusPage Kind = "h" // a public status page; also KindFeed
	KindInstance   Kind = "i" // a running instance
	KindVersion    Kind = "q" // a version of a crawled page
	KindBroken     Kind = "z" // a broken link of a crawl
	KindDelivery   Kind = "y" // a message to a channel
	KindSession    Kind = "s" // a signed-in session; also KindSource
)

const (
	idDigits = 22 // base62 digits that hold 128 bits
	alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewID returns a new id: the prefix, "_" and 22 base62 characters of a UUIDv7. The width is fixed and the
// characters are in ASCII order, so ids sort by creation time.
func NewID(k Kind) string {
	u := uuid.Must(uuid.NewV7()) // fails only if the system has no randomness
	return string(k) + "_" + base62(u)
}

// TimedID returns the id of an event at t. n, at least 0, distinguishes events of the same microsecond. The id is
// computed from t and n, so it need not be stored. It is a UUIDv7 (RFC 9562, 6.2, method 3): milliseconds, the
// microseconds within them, then n.
func TimedID(k Kind, t Time, n int64) string {
	us := uint64(t.UnixMicro())
	var u uuid.UUID
	binary.BigEndian.PutUint64(u[:8], us/1000<<16|7<<12|us%1000)
	binary.BigEndian.PutUint64(u[8:], 1<<63|uint64(n))
	return string(k) + "_" + base62(u)
}

// ParseTimedID returns the t and n of an id made by TimedID.
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

// CheckID returns an error unless s has the form of an id of kind k. Callers check before they query, so that
// malformed ids cost no query.
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
