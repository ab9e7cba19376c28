package middleware

import (
	"net/http"

	"linkwatch/models"
)

// Visitor returns the actor of a request by someone without an account, who may act by a link that is signed.
func Visitor(r *http.Request) models.Actor {
	return models.Actor{Name: "visitor", SeesAll: true, Via: "link", Address: peer(r).String(), Request: RequestID(r.Context())}
}
