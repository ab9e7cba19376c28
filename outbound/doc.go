// Package outbound is the only door to the internet: every request Linkwatch makes leaves through a Client.
//
// A Client fetches one page at a time with Colly and adds what a program that visits strangers needs: an address
// guard on every dial, caps on size, time and redirects, patience with hosts that ask for it, bodies in UTF-8, and
// errors that may be shown to anyone. Connections may go through proxies, past which the guard still holds.
//
// ParseMetadata reads a page's title and OpenGraph data, ParsePage all that a crawler wants of it. Robots tells which
// URLs a crawler may request.
package outbound
