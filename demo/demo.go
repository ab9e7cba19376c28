// Package demo makes up the data of the demo: a company whose links, targets and
// short links look as if people had used them for two years.
//
// All hosts end in .example (RFC 2606) and their pages are generated, so the demo sends no requests to
// real servers.
package demo

import (
	"math/rand/v2"
	"time"

	"linkwatch/models"
)

const day = models.Day

// Rest is the time until the made-up links and targets are checked again: nothing
// answers at their addresses, so that check finds them down.
const Rest = 7 * day

// MaxLinks is how many links a demo may have.
const MaxLinks = 500_000

// Run is one filling of a database, which the systems do in turn.
type Run struct {
	DB    *models.DB
	Now   time.Time
	Links int  // how many links to make up
	Force bool // add to a store that has links

	// Fresh says whether all links are new. If some were there before, with a life
	// of their own, the other systems make up nothing.
	Fresh  bool
	Newest []Link // some of the newest links, for other systems to use
}

// Link is a link that was made up.
type Link struct{ URL, Title string }

// random gives the same numbers at each start.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(1, seed)) } //nolint:gosec // nothing here is a secret
