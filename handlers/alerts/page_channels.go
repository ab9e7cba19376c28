package alerts

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/alerts"
	views "linkwatch/views/alerts"
	"linkwatch/views/ui"
)

// ChannelsPage lists the channels.
func (p Pages) ChannelsPage(c *gin.Context) {
	if v, ok := p.channelList(c, views.Tested{}); ok {
		p.Show(c, http.StatusOK, views.ChannelsPage(v))
	}
}

// channelList loads the list of channels and adds the result of a test message. If ok is false, the response is already written.
func (p Pages) channelList(c *gin.Context, t views.Tested) (v views.Channels, ok bool) {
	ctx := c.Request.Context()
	v.Tested = t
	var rules []alerts.Rule
	var flash ui.Flash
	ok = p.Read(c,
		func() (err error) { v.Channels, err = p.channels(ctx); return },
		func() (err error) { v.Waiting, err = p.Alerts.PendingMessages(ctx); return },
		func() (err error) { rules, err = p.rules(ctx); return },
		func() (err error) { flash, err = p.Flash(c, views.ChannelsPath); return },
	)
	v.Setup = views.NewSetup(usable(ctx, v.Channels), rules)
	v.Page = p.Page("Channels", section, flash)
	return v, ok
}

// NewChannel shows the form of a new channel, or the services to choose from.
func (p Pages) NewChannel(c *gin.Context) {
	v := views.ChannelForm{Enabled: true}
	if kind := c.Query("service"); slices.ContainsFunc(views.Forms(), func(s alerts.Service) bool { return s.Kind == kind }) {
		v.Service = views.FormOf(kind)
	}
	p.showChannelForm(c, http.StatusOK, v)
}

// ChannelPage shows the form of a stored channel.
func (p Pages) ChannelPage(c *gin.Context) {
	saved, err := p.Alerts.Channel(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.showChannelForm(c, http.StatusOK, views.ChannelForm{
		Signed: p.signed(saved), Saved: saved, Service: views.FormOf(saved.Kind), Name: saved.Name, Enabled: saved.Enabled, Private: saved.PrivateTo != "",
	})
}

func (p Pages) showChannelForm(c *gin.Context, status int, v views.ChannelForm) {
	title := "Add channel"
	v.MayShare = v.Saved.ID == "" || models.MayShare(c.Request.Context(), v.Saved.Owner) == nil
	if v.Saved.ID != "" {
		title = "Edit " + v.Saved.Name
	}
	v.Page = p.Page(title, section, ui.Flash{})
	p.Show(c, status, views.ChannelFormPage(v))
}

// AddChannel adds the channel in the form.
func (p Pages) AddChannel(c *gin.Context) {
	v := channelForm(c, views.FormOf(c.PostForm("service")))
	kind, address, err := p.address(v)
	if err = models.Invalids(alerts.CheckName(v.Name), err); err == nil {
		name := v.Name
		if strings.TrimSpace(name) == "" {
			name = views.ServiceLabel(kind)
		}
		_, err = p.Alerts.AddChannel(c.Request.Context(), alerts.NewChannel{Name: name, Kind: kind, Address: address, Disabled: !v.Enabled, Private: v.Private})
	}
	if p.channelRefused(c, v, err) {
		return
	}
	p.Done(c, err, views.ChannelsPath, "channel_added")
}

// EditChannel saves the form of a channel. If all credentials are blank, the address is unchanged.
func (p Pages) EditChannel(c *gin.Context) {
	ctx := c.Request.Context()
	saved, err := p.Alerts.Channel(ctx, c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	v := channelForm(c, views.FormOf(saved.Kind))
	v.Saved, v.Signed = saved, p.signed(saved)
	notice := "edited"
	e := alerts.ChannelEdit{Name: &v.Name, Enabled: &v.Enabled, Private: pages.Private(c)}
	if typed(v) {
		v.Open = true
		kind, address, wrong := p.address(v)
		e.Kind, e.Address, err = &kind, &address, models.Invalids(alerts.CheckName(v.Name), wrong)
		if v.Signed && address.Secret == "" {
			notice = "channel_unsigned"
		}
	}
	if err == nil {
		ctx := p.Edited(c, views.ChannelPath(saved.ID), func(ctx context.Context) (ui.Edited, error) {
			stored, err := p.Alerts.Channel(ctx, saved.ID)
			return views.EditedChannel(stored), err
		})
		_, err = p.Alerts.EditChannel(ctx, saved.ID, e)
	}
	if p.channelRefused(c, v, err) {
		return
	}
	p.Done(c, err, views.ChannelsPath, notice)
}

// signed reports whether the messages of a channel are signed with a secret.
func (p Pages) signed(c alerts.Channel) bool {
	a, err := p.Alerts.Address(c) // the list shows errors, as failed messages
	return err == nil && a.Secret != ""
}

func channelForm(c *gin.Context, s alerts.Service) views.ChannelForm {
	v := views.ChannelForm{Service: s, Name: c.PostForm("name"), Enabled: c.PostForm("enabled") != "", Values: map[string]string{}}
	for _, f := range s.Fields {
		v.Values[f.Name] = c.PostForm(f.Name)
	}
	if private := pages.Private(c); private != nil {
		v.Private = *private
	}
	return v
}

// typed reports whether any field of the service has a value. Choices are ignored, because they always have one.
func typed(v views.ChannelForm) bool {
	return slices.ContainsFunc(v.Service.Fields, func(f alerts.Field) bool {
		return f.Type != alerts.Choice && strings.TrimSpace(v.Values[f.Name]) != ""
	})
}

// address returns the kind and the address of the channel in a form. Errors are CodeInvalid for fields of the form.
func (p Pages) address(v views.ChannelForm) (kind string, a alerts.Address, err error) {
	switch a.URL = strings.TrimSpace(v.Values["url"]); v.Service.Kind {
	case alerts.KindWebhook:
		a.URL, a.Secret = models.RepairURL(a.URL), v.Values["secret"]
		if err = a.Check(alerts.KindWebhook); err != nil {
			return "", a, err
		}
	case alerts.KindURL:
		if a.URL == "" {
			return "", a, models.Invalid("url", "is required")
		}
	default:
		if a.URL, err = v.Service.URL(v.Values); err != nil {
			return "", a, err
		}
	}
	if kind, err = p.Sender.Check(a.URL); err != nil {
		return "", a, renamed(err, v.Service)
	}
	return kind, a, nil
}

// renamed moves an error of the URL of a channel to the URL field of its service.
func renamed(err error, s alerts.Service) error {
	m, ok := errors.AsType[*models.Error](err)
	if !ok || len(m.Fields) != 1 {
		return err
	}
	i := slices.IndexFunc(s.Fields, func(f alerts.Field) bool { return f.Type == alerts.URL })
	return models.Invalid(s.Fields[max(i, 0)].Name, "%s", m.Fields[0].Message)
}

// channelRefused shows the form again if the user can correct the error. It reports whether it did.
func (p Pages) channelRefused(c *gin.Context, v views.ChannelForm, err error) bool {
	if v.Errors = fieldErrors(err, v.Service.Fields[0].Name, v.Labels()); v.Errors == nil {
		return false
	}
	p.showChannelForm(c, p.FormStatus(c, err), v)
	return true
}

// fieldErrors returns the messages of an error that the user can correct, by field. Conflicts and errors of other fields are returned as
// errors of fallback. The result is nil if there is no error, or none that the user can correct.
func fieldErrors(err error, fallback string, labels map[string]string) ui.Errors {
	if m, ok := errors.AsType[*models.Error](err); ok && m.Code == models.CodeConflict {
		return ui.Errors{fallback: m.Detail}
	}
	errs, ok := pages.FormErrors(err, fallback, labels)
	if m, is := errors.AsType[*models.Error](err); ok && is {
		sayGone(errs, m.Fields)
	}
	return errs
}

// sayGone replaces the errors of chosen items that do not exist. Only the first error of a field is shown.
func sayGone(errs ui.Errors, fields []models.FieldError) {
	seen := map[string]bool{}
	for _, f := range fields {
		name, _, item := strings.Cut(f.Location, "[")
		if text := views.GoneTexts[name]; item && text != "" && errs[name] != "" && !seen[name] {
			errs[name] = text
		}
		seen[name] = true
	}
}

// TestChannel sends a test message and shows the response of the service in the list. For htmx it returns the row of the channel.
func (p Pages) TestChannel(c *gin.Context) {
	ctx := c.Request.Context()
	to, err := p.Alerts.Channel(ctx, c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	t, err := p.test(ctx, to)
	if code := models.CodeOf(err); err != nil && code != models.CodeBlocked && code != models.CodeConflict {
		p.Fail(c, err)
		return
	}
	if v, ok := p.channelList(c, t); ok {
		p.ShowPart(c, http.StatusOK, views.ChannelsPage(v), views.ChannelRow(v, t.ID))
	}
}

// EnableChannel enables or disables a channel.
func (p Pages) EnableChannel(c *gin.Context) {
	enabled := c.PostForm("enabled") != ""
	_, err := p.Alerts.EditChannel(c.Request.Context(), c.Param("id"), alerts.ChannelEdit{Enabled: &enabled})
	p.Done(c, err, views.ChannelsPath, switched("channel", enabled))
}

// switched returns the notice after something was enabled or disabled.
func switched(what string, enabled bool) string {
	if enabled {
		return what + "_enabled"
	}
	return what + "_disabled"
}

// DeleteChannel deletes a channel. The list then offers to undo it.
func (p Pages) DeleteChannel(c *gin.Context) {
	p.doneWithUndo(c, p.Alerts.DeleteChannel(c.Request.Context(), c.Param("id")), views.ChannelsPath, "channel_deleted")
}

// RestoreChannel restores a deleted channel.
func (p Pages) RestoreChannel(c *gin.Context) {
	_, err := p.Alerts.RestoreChannel(c.Request.Context(), c.Param("id"))
	p.Done(c, err, views.ChannelsPath, "channel_restored")
}
