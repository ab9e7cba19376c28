package pages

import (
	"context"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/views/ui"
)

// Edited returns the context in which a store saves a submitted edit form. If the stored values have changed since the form
// was made (ui.EditVersion), nothing is saved: the error has CodePrecondition, FormErrors accepts it, and the form shows both
// versions. stored returns the values. page is the path of the page that shows them. A form without a version is always saved.
func (f *Frame) Edited(c *gin.Context, page string, stored func(ctx context.Context) (ui.Edited, error)) context.Context {
	ctx := c.Request.Context()
	edit := &ui.Edit{Action: c.Request.URL.Path, Posted: c.PostForm("version"), Keep: page}
	if edit.Posted == "" {
		return ctx
	}
	c.Request = c.Request.WithContext(ui.WithEdit(ctx, edit))
	return models.Expect(ctx, func(ctx context.Context) error {
		now, err := stored(ctx)
		if err != nil {
			return err
		}
		if now.Version() == edit.Posted {
			return nil
		}
		differences := now.Differences(c.Request.PostForm)
		if len(differences) == 0 { // both made the same change
			return nil
		}
		edit.Now, edit.Theirs = now.Version(), differences
		return &models.Error{Code: models.CodePrecondition, Detail: "This was changed meanwhile. Compare both versions, then save again."}
	})
}
