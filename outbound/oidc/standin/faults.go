package standin

// Fault is something that the provider does wrongly.
type Fault string

// What is wrong with an ID token.
const (
	WrongIssuer      Fault = "issuer"
	WrongAudience    Fault = "audience"
	ManyAudiences    Fault = "audiences"       // ours among others, without azp
	ManyWithParty    Fault = "audiences, azp"  // ours among others, with our azp: nothing is wrong
	ForeignParty     Fault = "azp"             // azp is another client
	WrongNonce       Fault = "nonce"           //
	NoNonce          Fault = "no nonce"        //
	WrongKey         Fault = "key"             // signed by another key, with the id of ours
	UnknownKey       Fault = "unknown key"     // signed by another key, with its id
	BrokenSignature  Fault = "signature"       //
	Expired          Fault = "expired"         //
	NoExpiry         Fault = "no expiry"       //
	IssuedLater      Fault = "issued later"    //
	IssuedLongAgo    Fault = "issued long ago" //
	NoIssued         Fault = "no iat"          //
	NotYet           Fault = "nbf"             //
	NoSubject        Fault = "no subject"      //
	LongSubject      Fault = "long subject"    //
	AlgorithmNone    Fault = "none"            // not signed
	ClientSecretHMAC Fault = "HS256, secret"   // signed by the client's secret
	PublicKeyHMAC    Fault = "HS256, key"      // signed by HMAC with the bytes of the public key
	BadAccessHash    Fault = "at_hash"         //
	AccessHash       Fault = "good at_hash"    // nothing is wrong
	NoIDToken        Fault = "no id_token"     //
	HugeIDToken      Fault = "huge id_token"   //
)

// What is wrong with other answers.
const (
	WrongState          Fault = "state"
	WrongCallbackIssuer Fault = "callback iss"
	Denied              Fault = "denied"       // the callback has error=access_denied
	Overloaded          Fault = "overloaded"   // the callback has error=temporarily_unavailable
	OtherIssuer         Fault = "discovery"    // the discovery document is that of another issuer
	PlainEndpoint       Fault = "http token"   // the token endpoint is http on another host
	BlockedKeys         Fault = "blocked keys" // the keys are at an address that is not allowed
	BlockedToken        Fault = "blocked token"
	NoKeys              Fault = "no keys"       // the key set is empty
	BadKeys             Fault = "bad keys"      // the key set has private, weak, secret and unknown keys only
	TooManyKeys         Fault = "too many keys" //
	OtherUser           Fault = "other user"    // the userinfo endpoint tells about somebody else
	BadClient           Fault = "bad client"    // the client's secret is refused
)

// Hang lets the requests of a part wait for ever.
func Hang(part string) Fault { return Fault("hang " + part) }

// HangBody lets them wait for ever after the beginning of the body.
func HangBody(part string) Fault { return Fault("hang body " + part) }

// Huge answers with a body of 3 MiB.
func Huge(part string) Fault { return Fault("huge " + part) }

// Fail answers with status 500.
func Fail(part string) Fault { return Fault("fail " + part) }

// Garbage answers with what is not JSON.
func Garbage(part string) Fault { return Fault("garbage " + part) }

// Redirect redirects to /trap of the provider, which counts.
func Redirect(part string) Fault { return Fault("redirect " + part) }

// RedirectInside redirects to an address that is not public.
func RedirectInside(part string) Fault { return Fault("redirect inside " + part) }
