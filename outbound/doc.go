// Package outbound makes all requests of Linkwatch to other hosts.
//
// A Client fetches pages with Colly and adds protection against untrusted servers. It has an address guard on every
// connection, limits on size, time and redirects, and respects rate limits of hosts. It returns bodies in UTF-8, and
// errors that may be shown to anyone. Connections may go through proxies; the guard still applies.
//
// ParseMetadata parses the title and OpenGraph data of a page, ParsePage everything that a crawler needs. Robots decides
// which URLs a crawler may request.
package outbound
