package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"time"
)

// certified records when the certificates of a hop expire, if that is earlier than those before.
func (x *exchange) certified(state *tls.ConnectionState) {
	if state == nil || len(state.VerifiedChains) == 0 {
		return
	}
	if at := chainsExpire(state.VerifiedChains); x.expires.IsZero() || at.Before(x.expires) {
		x.expires = at
	}
}

// chainsExpire returns when the last of the chains expires. A chain expires with its first certificate.
func chainsExpire(chains [][]*x509.Certificate) (last time.Time) {
	for _, chain := range chains {
		first := chain[0].NotAfter
		for _, c := range chain[1:] {
			if c.NotAfter.Before(first) {
				first = c.NotAfter
			}
		}
		if first.After(last) {
			last = first
		}
	}
	return last
}
