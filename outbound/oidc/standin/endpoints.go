package standin

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
)

func (s *Server) discovery(w http.ResponseWriter, _ *http.Request) {
	doc := map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize?prompt=none", "token_endpoint": s.URL + "/token",
		"jwks_uri": s.URL + "/keys", "userinfo_endpoint": s.URL + "/userinfo", "end_session_endpoint": s.URL + "/logout",
		"id_token_signing_alg_values_supported":          []string{"none", "HS256", s.Algorithm},
		"authorization_response_iss_parameter_supported": true,
	}
	if s.SecretInBody {
		doc["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
	}
	for fault, change := range map[Fault][2]string{
		OtherIssuer:   {"issuer", "https://other.example"},
		PlainEndpoint: {"token_endpoint", "http://other.example/token"},
		BlockedKeys:   {"jwks_uri", strings.Replace(s.URL, "127.0.0.1", "127.0.0.2", 1) + "/keys"},
		BlockedToken:  {"token_endpoint", strings.Replace(s.URL, "127.0.0.1", "127.0.0.2", 1) + "/token"},
	} {
		if s.has(fault) {
			doc[change[0]] = change[1]
		}
	}
	writeJSON(w, http.StatusOK, doc)
}

func (s *Server) keys(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	key := s.key
	s.mu.Unlock()
	all := key.public()
	switch {
	case s.has(NoKeys):
		all = []any{}
	case s.has(BadKeys):
		all = badKeys(key.id)
	case s.has(TooManyKeys):
		for range 30 {
			all = append(all, key.public()...)
		}
	default:
		all = append(badKeys("others"), all...)
	}
	writeJSON(w, http.StatusOK, map[string]any{"keys": all})
}

// authorize signs the user in without a prompt and redirects the browser back.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || back.Host == "" || q.Get("client_id") != ClientID || q.Get("response_type") != "code" ||
		!strings.Contains(" "+q.Get("scope")+" ", " openid ") || q.Get("state") == "" || q.Get("nonce") == "" ||
		q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || q.Get("prompt") != "none" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	s.mu.Lock()
	s.grants[code] = grant{user: s.user, redirect: q.Get("redirect_uri"), nonce: q.Get("nonce"), challenge: q.Get("code_challenge")}
	s.mu.Unlock()
	params := back.Query()
	params.Set("state", q.Get("state"))
	params.Set("iss", s.URL)
	switch {
	case s.has(Denied):
		params.Set("error", "access_denied")
		params.Set("error_description", "<b>of the provider</b>")
	case s.has(SignedOut) && len(q["prompt"]) == 2:
		params.Set("error", "login_required")
	case s.has(Overloaded):
		params.Set("error", "temporarily_unavailable")
	default:
		params.Set("code", code)
	}
	if s.has(WrongState) {
		params.Set("state", "another")
	}
	if s.has(WrongCallbackIssuer) {
		params.Set("iss", "https://other.example")
	}
	if s.NoIssuer {
		params.Del("iss")
	}
	back.RawQuery = params.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	fail := func(status int, code string) {
		writeJSON(w, status, map[string]string{"error": code, "error_description": "<b>of the provider</b> " + r.FormValue("code")})
	}
	if !s.authenticated(r) || s.has(BadClient) {
		fail(http.StatusUnauthorized, "invalid_client")
		return
	}
	g, ok := s.grant(r)
	if !ok {
		fail(http.StatusBadRequest, "invalid_grant")
		return
	}
	access, refresh := rand.Text(), rand.Text()
	s.mu.Lock()
	s.access[access] = g.user
	s.tokens[refresh] = g
	s.mu.Unlock()
	body := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 300, "id_token": s.idToken(g, access)}
	if s.Refreshes {
		body["refresh_token"] = refresh
	}
	if s.has(NoIDToken) {
		delete(body, "id_token")
	}
	writeJSON(w, http.StatusOK, body)
}

// grant returns the grant of a request for tokens. That of a refresh token is for the current user.
func (s *Server) grant(r *http.Request) (grant, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	code, refresh := r.PostFormValue("code"), r.PostFormValue("refresh_token")
	if r.PostFormValue("grant_type") == "refresh_token" {
		g, ok := s.tokens[refresh]
		delete(s.tokens, refresh)
		ok = ok && g.user.Subject == s.user.Subject && !s.faults[Removed]
		g.user, g.nonce = s.user, ""
		if s.faults[BareRefresh] {
			g.user = User{Subject: g.user.Subject}
		}
		return g, ok
	}
	g, ok := s.grants[code]
	delete(s.grants, code)
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	return g, ok && r.PostFormValue("grant_type") == "authorization_code" && r.PostFormValue("redirect_uri") == g.redirect &&
		base64.RawURLEncoding.EncodeToString(sum[:]) == g.challenge
}

// authenticated checks the ID and the secret of the client, with the method that the discovery document has.
func (s *Server) authenticated(r *http.Request) bool {
	id, secret, basic := r.BasicAuth()
	if basic { // RFC 6749, 2.3.1
		id, _ = url.QueryUnescape(id)
		secret, _ = url.QueryUnescape(secret)
	} else {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	return id == ClientID && secret == s.Secret && basic != (s.SecretInBody || s.Secret == "")
}

func (s *Server) userinfo(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	u, ok := s.access[token]
	s.mu.Unlock()
	if !ok {
		writeJSON(w, http.StatusUnauthorized, map[string]string{"error": "invalid_token"})
		return
	}
	if s.has(OtherUser) {
		u.Subject = "other"
	}
	c := u.claims()
	c["sub"] = u.Subject
	writeJSON(w, http.StatusOK, c)
}

func (u User) claims() map[string]any {
	c := map[string]any{}
	if u.Username != "" {
		c["preferred_username"] = u.Username
	}
	if u.Email != "" {
		c["email"], c["email_verified"] = u.Email, u.Verified
	}
	maps.Copy(c, u.Claims)
	return c
}

func (s *Server) idToken(g grant, access string) string {
	now := s.Clock()
	c := map[string]any{}
	if !s.UserInfoOnly {
		c = g.user.claims()
	}
	maps.Copy(c, map[string]any{
		"iss": s.URL, "sub": g.user.Subject, "aud": ClientID, "nonce": g.nonce,
		"iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
	})
	for fault, change := range map[Fault][2]any{
		WrongIssuer: {"iss", "https://other.example"}, WrongAudience: {"aud", "other"}, ManyAudiences: {"aud", []string{ClientID, "other"}},
		ManyWithParty: {"aud", []string{ClientID, "other"}}, OtherParty: {"azp", "other"}, WrongNonce: {"nonce", "another"}, NoNonce: {"nonce", nil},
		Expired: {"exp", now.Add(-time.Second).Unix()}, NoExpiry: {"exp", nil}, IssuedInFuture: {"iat", now.Add(10 * time.Minute).Unix()},
		IssuedLongAgo: {"iat", now.Add(-2 * time.Hour).Unix()}, NoIssued: {"iat", nil}, NotYetValid: {"nbf", now.Add(time.Hour).Unix()},
		NoSubject: {"sub", nil}, LongSubject: {"sub", strings.Repeat("x", 256)}, BadAccessHash: {"at_hash", s.accessHash("another")},
		AccessHash: {"at_hash", s.accessHash(access)},
	} {
		if !s.has(fault) {
			continue
		}
		if c[change[0].(string)] = change[1]; change[1] == nil {
			delete(c, change[0].(string))
		}
	}
	if s.has(HugeIDToken) {
		c["padding"] = strings.Repeat("x", 100<<10)
	}
	if s.has(ManyWithParty) {
		c["azp"] = ClientID
	}
	payload, err := json.Marshal(c)
	must(err)
	s.mu.Lock()
	key := s.key
	s.mu.Unlock()
	switch {
	case s.has(WrongKey):
		return otherKey().sign(s.Algorithm, key.id, payload)
	case s.has(UnknownKey):
		return otherKey().sign(s.Algorithm, otherKey().id, payload)
	case s.has(AlgorithmNone):
		return unsafeToken("none", key.id, payload, nil)
	case s.has(ClientSecretHMAC):
		return unsafeToken("HS256", key.id, payload, []byte(ClientSecret))
	case s.has(PublicKeyHMAC):
		return unsafeToken("HS256", key.id, payload, key.publicBytes())
	}
	raw := key.sign(s.Algorithm, key.id, payload)
	if s.has(BrokenSignature) {
		i := strings.LastIndexByte(raw, '.') + 5
		raw = raw[:i] + string('A'+(raw[i]-'A'+1)%26) + raw[i+1:]
	}
	return raw
}

func (s *Server) accessHash(token string) string {
	if s.Algorithm == "EdDSA" {
		sum := sha512.Sum512([]byte(token))
		return base64.RawURLEncoding.EncodeToString(sum[:32])
	}
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	http.SetCookie(w, &http.Cookie{Name: "provider", Value: "x"})
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
