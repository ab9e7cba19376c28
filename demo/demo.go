// Package demo generates the data of the demo: a company with two years of links, targets
// and short links.
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

// Rest is the time until the generated links and targets are checked. Their hosts do not
// exist, so a check would find them down.
const Rest = 7 * day

// MaxLinks is the maximum number of links in a demo.
const MaxLinks = 500_000

// Run is one run of the generator, which fills a database system by system.
type Run struct {
	DB    *models.DB
	Now   time.Time
	Links int  // number of links to generate
	Force bool // also fill a database that has links

	// Fresh reports whether all links are new. If the database had links before, the other
	// systems generate nothing.
	Fresh  bool
	Newest []Link // some of the newest links, for other systems to use
}

// Link is a generated link.
type Link struct{ URL, Title string }

// random returns a generator with a fixed sequence for each seed.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(1, seed)) } //nolint:gosec // nothing here is a secret
