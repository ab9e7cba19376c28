package models

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/google/uuid"
)

// Kind is the one-letter prefix of an id: what sort of thing it names.
type Kind string

// The kinds of ids that stand in the contract (§1), as far as they are built.
const (
	KindLink Kind = "l"
	KindTag  Kind = "g"
)

// Kinds of ids that stay inside the program.
const (
	KindChange  Kind = "u" // an undoable change
	KindRefresh Kind = "b" // a batch of links to refresh
	KindRun     Kind = "r" // one run of a scheduled job
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
