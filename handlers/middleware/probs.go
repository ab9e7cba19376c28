package middleware

import "linkwatch/models"

// typePrefix is the path of the pages that explain problem types. The code follows it.
const typePrefix = "/probs/"

// ProblemType is a type of problem with its explanation.
type ProblemType struct {
	Slug    string // last part of the type, such as "not-found"
	Status  int    // HTTP status
	Title   string
	Meaning string // what happened
	Action  string // what to do about it
}

// Type returns the member type of problems: "/probs/not-found".
func (t ProblemType) Type() string { return typePrefix + t.Slug }

// ProblemTypeOf returns the problem type with a slug. ok is false if there is none.
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
		"Read the detail of the problem and its list of errors, which names the invalid fields. Correct them and try again.",
	},
	models.CodeTooManyTags: {
		"The link would exceed the maximum number of tags. No tag was added.",
		"Send fewer tags, or remove some tags from the link first. The detail of the problem has the limit.",
	},
	CodeUnauthorized: {
		"This page or operation requires a login. The request has no credentials, or they are wrong.",
		"In a browser, sign in. In the API, send an API token, a JWT or the admin password as a bearer token in the Authorization header. The detail of the problem names the credentials that this server accepts. If you have none, ask the operator of this server.",
	},
	models.CodeForbidden: {
		"You do not have access to this page or operation: your role or the scopes of your token do not include it. The server also refuses requests with an unknown Host header, and requests that a browser sends from another site.",
		"Read the detail of the problem for the cause. Use an account or a token with the role or scope that it names. If the host name is unknown, open the server at its own address. If you operate the server, set PUBLIC_URL to the URL that visitors use.",
	},
	models.CodeNotFound: {
		"The page or item does not exist, or it was deleted.",
		"Check the URL for typos. IDs and keys of short links are case-sensitive.",
	},
	CodeMethodNotAllowed: {
		"The path exists, but it does not support the HTTP method of the request.",
		"Use one of the methods that the Allow header of the response lists.",
	},
	CodeRequestTimeout: {
		"The request body arrived too slowly, so the server stopped reading it.",
		"Send the request again over a faster connection, or send less data at once.",
	},
	models.CodeConflict: {
		"The request conflicts with the current state. For example, a key is taken, a target is paused, or a link has changed since you loaded it.",
		"Read the detail of the problem for the cause. Reload, then choose another value or try again.",
	},
	models.CodePrecondition: {
		"The item has changed since the client read it: the request has a header If-Match that does not hold. Nothing was changed.",
		"Compare the member current of the problem, which is the item as it is now, with your change. Then send the request again with the ETag of the response, or without If-Match to overwrite the other change.",
	},
	models.CodeGone: {
		"The short link has expired, reached its visit limit, or was disabled or deleted. Its destination may also be blocked on this server.",
		"Ask the person who gave you the link for a new one. If it is your own, you can extend, enable or restore it.",
	},
	CodeRateLimited: {
		"Your IP address has sent too many requests or too many wrong passwords or tokens in a short time.",
		"Wait for the number of seconds in the Retry-After header of the response, then try again.",
	},
	CodeTooLarge: {
		"The request body is larger than 1 MiB. It was not processed.",
		"Split the data over several requests.",
	},
	CodeUnsupportedMedia: {
		"The request body is not JSON, is compressed, or has no Content-Type header for JSON.",
		"Send uncompressed JSON with the header Content-Type: application/json.",
	},
	models.CodeUnresolvable: {
		"The server could not fetch the page of the link. Nothing was saved.",
		"Read the detail of the problem for the cause, and open the link in your browser. Correct the link, or try again when the page is available.",
	},
	models.CodeBlocked: {
		"The address belongs to a private or reserved network, such as this server's own. The server does not fetch such addresses.",
		"Use an address on the public internet. If you operate the server, you can allow networks with OUTBOUND_ALLOW_CIDRS.",
	},
	models.CodeUndelivered: {
		"The service of the alert channel did not accept the test message. Only the last error of the channel was changed.",
		"Read the detail of the problem, which contains the response of the service. Correct the URL of the channel or the settings of the service, then test again.",
	},
	CodeInternal: {
		"The server failed to process the request. This is an error of the server, not of the request.",
		"Try again. If it fails again, send the operator the request ID in the X-Request-Id header. The server log has the cause under this ID.",
	},
	models.CodeUnavailable: {
		"The server cannot process the request now. For example, the database is unavailable or read-only, or the server is busy or stopping.",
		"Try again later. If the response has a Retry-After header, wait for that number of seconds.",
	},
}
