package standin

// Fault is a wrong behavior of the provider.
type Fault string

// Faults of ID tokens.
const (
	WrongIssuer      Fault = "issuer"
	WrongAudience    Fault = "audience"
	ManyAudiences    Fault = "audiences"      // with a second audience, without azp
	ManyWithParty    Fault = "audiences, azp" // with a second audience and the right azp: valid
	OtherParty       Fault = "azp"            // azp is another client
	WrongNonce       Fault = "nonce"
	NoNonce          Fault = "no nonce"
	WrongKey         Fault = "key"         // signed by another key, with the right key ID
	UnknownKey       Fault = "unknown key" // signed by another key, with its key ID
	BrokenSignature  Fault = "signature"
	Expired          Fault = "expired"
	NoExpiry         Fault = "no expiry"
	IssuedInFuture   Fault = "issued in future"
	IssuedLongAgo    Fault = "issued long ago"
	NoIssued         Fault = "no iat"
	NotYetValid      Fault = "nbf"
	NoSubject        Fault = "no subject"
	LongSubject      Fault = "long subject"
	AlgorithmNone    Fault = "none"          // not signed
	ClientSecretHMAC Fault = "HS256, secret" // signed with the client secret
	PublicKeyHMAC    Fault = "HS256, key"    // HMAC with the bytes of the public key
	BadAccessHash    Fault = "at_hash"
	AccessHash       Fault = "good at_hash" // valid
	NoIDToken        Fault = "no id_token"
	HugeIDToken      Fault = "huge id_token"
)

// Faults of other responses.
const (
	WrongState          Fault = "state"
	WrongCallbackIssuer Fault = "callback iss"
	SignedOut           Fault = "signed out"   // the user has no session: without a page, the callback has error=login_required
	Removed             Fault = "removed"      // refresh tokens are no longer valid
	BareRefresh         Fault = "bare refresh" // responses to refresh tokens have no claims about the user
	Denied              Fault = "denied"       // the callback has error=access_denied
	Overloaded          Fault = "overloaded"   // the callback has error=temporarily_unavailable
	OtherIssuer         Fault = "discovery"    // the discovery document has another issuer
	PlainEndpoint       Fault = "http token"   // the token endpoint is http on another host
	BlockedKeys         Fault = "blocked keys" // the keys are at an address that is not allowed
	BlockedToken        Fault = "blocked token"
	NoKeys              Fault = "no keys"  // the key set is empty
	BadKeys             Fault = "bad keys" // the key set has only private, weak, symmetric and unsupported keys
	TooManyKeys         Fault = "too many keys"
	OtherUser           Fault = "other user" // the userinfo response is for another user
	BadClient           Fault = "bad client" // the client secret is rejected
)

// Hang never responds to requests for an endpoint.
func Hang(endpoint string) Fault { return Fault("hang " + endpoint) }

// HangBody hangs after the start of the body.
func HangBody(endpoint string) Fault { return Fault("hang body " + endpoint) }

// Huge responds with a body of 3 MiB.
func Huge(endpoint string) Fault { return Fault("huge " + endpoint) }

// Fail responds with status 500.
func Fail(endpoint string) Fault { return Fault("fail " + endpoint) }

// Garbage responds with HTML instead of JSON.
func Garbage(endpoint string) Fault { return Fault("garbage " + endpoint) }

// Redirect redirects to /trap, which counts requests.
func Redirect(endpoint string) Fault { return Fault("redirect " + endpoint) }

// RedirectInside redirects to a link-local address.
func RedirectInside(endpoint string) Fault { return Fault("redirect inside " + endpoint) }
