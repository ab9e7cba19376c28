package middleware

import "linkwatch/models"

// typePrefix and a code are the type of a problem: a relative reference, which
// leads to a page that explains it.
const typePrefix = "/probs/"

// ProblemType explains one type of problem to a person.
type ProblemType struct {
	Slug    string // last part of the type, such as "not-found"
	Status  int    // HTTP status
	Title   string
	Meaning string // what happened
	Action  string // what to do about it
}

// Type is the type as problems have it: "/probs/not-found".
func (t ProblemType) Type() string { return typePrefix + t.Slug }

// ProblemTypeOf returns the type of problem with a slug; ok is false if there is none.
func ProblemTypeOf(slug string) (t ProblemType, ok bool) {
	k, ok := kinds[models.Code(slug)]
	if !ok {
		return ProblemType{}, false
	}
	e := explanations[models.Code(slug)]
	return ProblemType{slug, k.status, k.title, e.meaning, e.action}, true
}

// explanations has an entry for each of kinds.
var explanations = map[models.Code]struct{ meaning, action string }{
	models.CodeInvalid: {
		"The server cannot read the request, or a value in it is not allowed. Nothing was changed.",
		"Read the detail of the problem. If it has a list of errors, each entry names a field and what is wrong with it. Correct these fields and send the request again.",
	},
	models.CodeTooManyTags: {
		"The link would have more tags than a link can have. No tag was added.",
		"Send fewer tags, or remove some from the link first. The detail of the problem names the limit.",
	},
	CodeUnauthorized: {
		"This address needs a login. The request has no credentials, or they are wrong.",
		"Send the admin password as the password of HTTP Basic, with any user name, or as a bearer token in the Authorization header. The API may need a JWT as the bearer token instead: the detail of the problem says so. If you have neither, ask the operator of this server.",
	},
	models.CodeForbidden: {
		"The server refuses this request. Its Host header does not name this server, a browser sent it from another site, or the role of its token is too low.",
		"Read the detail of the problem for the cause. Open the server at its own address, or use a token with the role that the detail names, and try again. If you operate the server, set PUBLIC_URL to the address that visitors use.",
	},
	models.CodeNotFound: {
		"There is nothing at this address. It never existed, or it was deleted.",
		"Check the address for typing errors. Upper and lower case matter in ids and short keys.",
	},
	CodeMethodNotAllowed: {
		"The address exists, but it does not support the HTTP method of the request.",
		"Use one of the methods that the Allow header of the response lists.",
	},
	CodeRequestTimeout: {
		"The body of the request arrived too slowly, so the server stopped reading it.",
		"Send the request again over a faster connection, or send less data at once.",
	},
	models.CodeConflict: {
		"The current state does not allow the request. For example, a short key is taken, a target is paused, or a link has changed in the meantime.",
		"Read the detail of the problem for the cause. Load the current state, then choose another value or try again.",
	},
	models.CodeGone: {
		"The short link has expired, has reached its visit limit, or was disabled or deleted. Its destination may also be blocked on this server.",
		"Ask the person who gave you the link for a new one. If it is your own, you can extend, enable or restore it.",
	},
	CodeRateLimited: {
		"Your address has sent too many requests of one kind in a short time, or too many wrong passwords or tokens.",
		"Wait as many seconds as the Retry-After header of the response says, then try again.",
	},
	CodeTooLarge: {
		"The body of the request is larger than 1 MiB. It was not processed.",
		"Split the data over several requests.",
	},
	CodeUnsupportedMedia: {
		"The body of the request is not JSON, or its Content-Type header does not say that it is.",
		"Send JSON with the header Content-Type: application/json.",
	},
	models.CodeUnresolvable: {
		"The server could not fetch the page that the link leads to. Nothing was saved.",
		"Read the detail of the problem for the cause, and open the link in your browser to check it. Correct the link, or try again when its page is available.",
	},
	models.CodeBlocked: {
		"The address belongs to a private or reserved network, such as this server's own. The server does not fetch such addresses.",
		"Use an address on the public internet. If you operate the server, you can allow networks with OUTBOUND_ALLOW_CIDRS.",
	},
	models.CodeUndelivered: {
		"A test message was sent to a channel of alerts, and the service did not take it. Nothing was changed but the last error of the channel.",
		"Read the detail of the problem, which has the answer of the service. Correct the URL of the channel, or its settings at the service, and test it again.",
	},
	CodeInternal: {
		"The server failed to process the request. This is an error of the server, not of the request.",
		"Try again. If it fails again, tell the operator the request id, which is in the X-Request-Id header. The log of the server has the cause under this id.",
	},
	models.CodeUnavailable: {
		"The server cannot process the request at the moment. For example, its database does not answer or cannot be written, or the server is busy or stopping.",
		"Try again later. If the response has a Retry-After header, wait that many seconds first.",
	},
}
