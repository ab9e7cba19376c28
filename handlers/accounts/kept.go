package accounts

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/accounts"
	views "linkwatch/views/accounts"
)

const (
	keptField   = "form"                 // of the login form: the sealed form
	keptOwner   = "linkwatch_form"       // of the seal
	keptFor     = time.Hour              // how long the login takes at most
	maxKept     = 64 << 10               // bytes of all fields
	maxKeptBody = 3*maxKept + maxKept/16 // the same, escaped
)

// keptForm is a form that was submitted without a session. It travels sealed in the login form and is never stored.
type keptForm struct {
	Path   string
	Fields url.Values
	User   string // ID of the account whose session ended; "" = unknown
	Device string // token of the browser; "" = none
	Until  time.Time
}

// secretWords are parts of the names of fields that are not kept.
var secretWords = []string{"password", "secret", "token", "credential", "code"}

// KeepForm answers a submitted form without a session with the login page, which holds what was typed. It is
// middleware.AccessOptions.Keep.
func (p Pages) KeepForm(c *gin.Context, keeps []string, next string) bool {
	v := views.Login{Next: nextField(localNext(next)), SSOName: p.ssoName(), Notice: "You have been signed out. Sign in to go on: your text is kept, and you can check it before it is saved."}
	fields, err := typedFields(c, keeps)
	switch {
	case errors.Is(err, errTooLong):
		v.Notice, v.Problem = "", "You have been signed out, and your text is too long to be kept. Go back and copy it before you sign in."
	case err != nil || len(fields) == 0:
		return false
	default:
		form := keptForm{Path: c.Request.URL.RequestURI(), Fields: fields, Device: p.Cookies.Device(c.Request), Until: p.Accounts.Now().Add(keptFor).Time}
		if secret := p.Cookies.Session(c.Request); secret != "" {
			if form.User, err = p.Accounts.EndedSession(c.Request.Context(), secret); err != nil {
				p.Frame.Fail(c, err)
				return true
			}
		}
		if v.Form, err = p.sealForm(form); err != nil {
			p.Frame.Fail(c, err)
			return true
		}
	}
	c.Header("Cache-Control", middleware.NoStore)
	p.Frame.Show(c, http.StatusUnauthorized, views.LoginPage(v))
	return true
}

var errTooLong = errors.New("form is too long")

// typedFields reads the fields of a form that are kept, without files. keeps are their names; "*" = all but secrets.
func typedFields(c *gin.Context, keeps []string) (url.Values, error) {
	body, err := io.ReadAll(io.LimitReader(c.Request.Body, maxKeptBody+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxKeptBody {
		return nil, errTooLong
	}
	if kind, _, _ := mime.ParseMediaType(c.ContentType()); kind != "application/x-www-form-urlencoded" {
		return nil, nil // a file, or no form of ours
	}
	all, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	size := 0
	for name, values := range all {
		secret := slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(strings.ToLower(name), word) })
		if secret || keeps[0] != "*" && !slices.Contains(keeps, name) {
			delete(all, name)
			continue
		}
		for _, v := range values {
			size += len(name) + len(v)
		}
	}
	if size > maxKept {
		return nil, errTooLong
	}
	return all, nil
}

func (p Pages) sealForm(f keptForm) (string, error) {
	plain, err := json.Marshal(f)
	if err != nil {
		return "", err
	}
	sealed, err := p.Seal(plain, keptOwner)
	return base64.RawURLEncoding.EncodeToString(sealed), err
}

// openForm returns the form that the login form holds. ok is false if there is none, or if it is too old.
func (p Pages) openForm(sealed string) (f keptForm, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || sealed == "" {
		return f, false
	}
	plain, err := p.Unseal(b, keptOwner)
	if err != nil || json.Unmarshal(plain, &f) != nil {
		return f, false
	}
	return f, p.Accounts.Now().Before(f.Until)
}

// kept returns the sealed form of a login form if it can still be opened.
func (p Pages) kept(c *gin.Context) string {
	sealed := c.PostForm(keptField)
	if _, ok := p.openForm(sealed); !ok {
		return ""
	}
	return sealed
}

// showKept answers a login with the page of the kept form, as if it had been submitted with an error. It reports whether it
// did. Nothing is stored: the user submits the form again. A form of another account is dropped. submitted is the request of
// the login, secret that of the new session.
func (p Pages) showKept(c *gin.Context, submitted *http.Request, u accounts.User, secret string) bool {
	f, ok := p.openForm(c.PostForm(keptField))
	if !ok || f.User != "" && f.User != u.ID {
		return false
	}
	if f.User == "" && f.Device != "" && p.Accounts.Device(f.Device, u.Username) == "" { // the session was deleted
		return false
	}
	to, err := url.ParseRequestURI(f.Path)
	if err != nil {
		return false
	}
	body := f.Fields.Encode()
	r := submitted.Clone(models.ShowAgain(submitted.Context()))
	r.URL, r.RequestURI = to, f.Path
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader([]byte(body))), int64(len(body))
	r.Form, r.PostForm, r.MultipartForm = nil, nil, nil
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Cookie", p.Cookies.SessionHeader(submitted, secret))
	r.Header.Set("X-Request-Id", middleware.RequestID(submitted.Context()))
	c.Request = r
	p.Frame.Serve(c)
	return true
}
