package accounts

import (
	"context"
	"errors"
	"fmt"

	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/audit"
)

// Reason is why a single sign-on failed, as logs and the audit log name it.
type Reason string

// The reasons of Linkwatch. Others are the kinds of errors of the provider.
const (
	Expired     Reason = "expired"     // also a refresh token that is no longer valid
	Unavailable Reason = "unavailable" // also while the settings or the clocks are wrong, in Undecided
	NoRole      Reason = "no_role"
	Domain      Reason = "domain"
	Disabled    Reason = "disabled"
	Deleted     Reason = "deleted"
	LastAdmin   Reason = "last_admin"
	OtherUser   Reason = "other_user" // another user has signed in at the provider
)

// Refusal is the error of a single sign-on that failed.
type Refusal struct {
	Reason    Reason
	Detail    string   // shown to the user
	Identity  Identity // zero = unknown
	Undecided bool     // the provider has said nothing about the user
	ByBrowser bool     // the browser said so, which may lie to keep its session
}

// Error implements error.
func (r *Refusal) Error() string { return r.Detail }

// Unwrap returns the error for the response.
func (r *Refusal) Unwrap() error {
	code := models.CodeForbidden
	if r.Reason == Unavailable {
		code = models.CodeUnavailable
	}
	return &models.Error{Code: code, Detail: r.Detail}
}

// isFinal reports whether the provider knows the user, who has no access any more.
func (r *Refusal) isFinal() bool { return r.Reason == NoRole || r.Reason == Domain }

const (
	maxRoleValues = 20 // values of the role claim that are recorded
	maxRoleValue  = 100
)

// why returns the reason of a failed single sign-on for the audit log: what the provider sent about the user, without
// tokens.
func why(err error) audit.Values {
	r, ok := errors.AsType[*Refusal](err)
	if !ok {
		return audit.Values{"reason": string(models.CodeOf(err))}
	}
	v := audit.Values{"reason": string(r.Reason)}
	id := r.Identity
	if id.Subject == "" {
		return v
	}
	v["subject"], v["username"] = id.Subject, models.CleanLine(id.Name)
	if r.Reason == Domain {
		v["email"] = models.CleanLine(id.Email)
	}
	if id.RoleClaim != "" {
		v["role_claim"], v["role_values"] = id.RoleClaim, shortValues(id.RoleValues)
	}
	return v
}

func shortValues(all []string) []string {
	short := make([]string, 0, maxRoleValues+1)
	for _, value := range all[:min(len(all), maxRoleValues)] {
		short = append(short, models.Truncate(models.CleanLine(value), maxRoleValue))
	}
	if more := len(all) - maxRoleValues; more > 0 {
		short = append(short, fmt.Sprintf("%d more", more))
	}
	return short
}

// recordRefusal logs why a user was refused. If the provider knows the user, who has no access any more, the account
// has none either. It returns the account of the user, if there is one.
func (d *Deps) recordRefusal(ctx context.Context, err error) (u accounts.User, _ error) {
	r, ok := errors.AsType[*Refusal](err)
	if !ok || r.Identity.Subject == "" {
		return u, nil // the provider has logged the cause
	}
	reasons := why(err)
	attributes := []any{"reason", reasons["reason"]}
	for _, name := range []string{"subject", "username", "email", "role_claim", "role_values"} {
		if value, ok := reasons[name]; ok {
			attributes = append(attributes, name, value)
		}
	}
	d.Frame.Errors.Log.WarnContext(ctx, "single sign-on refused", attributes...)
	u, findErr := d.Accounts.BySubject(ctx, r.Identity.Issuer, r.Identity.Subject)
	switch {
	case models.CodeOf(findErr) == models.CodeNotFound:
		return accounts.User{}, nil
	case findErr != nil:
		return u, findErr
	case !r.isFinal() || !u.DeletedAt.IsZero():
		return u, nil
	}
	ctx = models.WithActor(ctx, models.Actor{ID: u.ID, Name: u.Username, Via: accounts.MethodOIDC})
	return u, d.Accounts.Refuse(ctx, u, reasons)
}
