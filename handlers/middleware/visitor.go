package middleware

import (
	"net/http"

	"linkwatch/models"
)

// Visitor returns the actor of a request that a signed link authorizes, without an account.
func Visitor(r *http.Request) models.Actor {
	return models.Actor{Name: "visitor", SeesAll: true, Via: "link", Address: peer(r).String(), Request: RequestID(r.Context())}
}
