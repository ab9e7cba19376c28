package demo

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// sentences are the sentences of generated pages.
var sentences = []string{
	"Orders placed before noon are packed the same day.",
	"Our kitchen knives are forged from one piece of steel and sharpened by hand.",
	"The API answers with JSON and needs a token in each request.",
	"Rate limits apply to each token: 600 requests in ten minutes.",
	"Returns are free within thirty days, in the original box or any other.",
	"The garden catalog lists seeds by the month in which they are sown.",
	"Webhooks are retried for a day, each time after a longer pause.",
	"We moved our warehouse closer to the railway, which halves the lorries on the road.",
	"Every change of the price list is announced two weeks ahead.",
	"A search finds articles by title, by number and by what they are made of.",
	"The oak boards come from a forest that is older than the company.",
	"Invoices can be downloaded as PDF, one by one or for a whole quarter.",
	"Support answers on working days from eight to six.",
	"The new dashboard shows stock, orders and returns on one page.",
	"Cast iron lasts for generations if it is dried after use.",
	"Partners get their own catalog with net prices.",
	"The archive keeps every catalog since 1987 as scanned pages.",
	"Delivery to islands takes two days longer in winter.",
	"Batch endpoints take up to five hundred items and answer for each of them.",
	"We tested forty watering cans and kept three.",
	"The release notes list what was added, changed and removed.",
	"Gift cards do not expire.",
}

// textOf returns the text of a generated page on a day. Only the price, and sometimes a
// paragraph, changes from day to day.
func textOf(title, path string, at time.Time) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(path)) // never fails
	seed := h.Sum64()
	r := random(seed)
	lines := []string{title}
	for range 3 + r.IntN(4) {
		var p []string
		for range 2 + r.IntN(3) {
			p = append(p, sentences[r.IntN(len(sentences))])
		}
		lines = append(lines, strings.Join(p, " "))
	}
	days := int(at.Unix()/86400) + int(seed%97)
	if seed%3 == 0 { // a page that changes
		lines = append(lines, fmt.Sprintf("The price of this article is %d euros, shipping included. %d are in stock.", 20+seed%60+uint64(days/5%9), 3+days%11))
		lines[1] = sentences[days/3%len(sentences)] + " " + lines[1]
	}
	return strings.Join(lines, "\n")
}
