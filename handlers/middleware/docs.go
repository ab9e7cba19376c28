package middleware

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/swaggest/swgui/v5emb"
)

// Docs serves the description of the API.
type Docs struct {
	v31, v30 []byte
	ui       http.Handler
}

// NewDocs writes the description once: it does not change while the program runs.
func NewDocs(d interface {
	OpenAPI() ([]byte, error)
	OpenAPI30() ([]byte, error)
}) (*Docs, error) {
	v31, err := d.OpenAPI()
	if err != nil {
		return nil, err
	}
	v30, err := d.OpenAPI30()
	if err != nil {
		return nil, err
	}
	return &Docs{v31, v30, v5emb.New("Linkwatch", "/openapi.json", "/apidoc")}, nil
}

// OpenAPI answers GET /openapi.json (OpenAPI 3.1).
func (d *Docs) OpenAPI(c *gin.Context) { c.Data(http.StatusOK, "application/json", d.v31) }

// OpenAPI30 answers GET /openapi-3.0.json.
func (d *Docs) OpenAPI30(c *gin.Context) { c.Data(http.StatusOK, "application/json", d.v30) }

// SwaggerUI answers GET /apidoc with Swagger UI, whose assets are in the
// program. Its page has a script and styles of its own, which only this route allows.
func (d *Docs) SwaggerUI(c *gin.Context) {
	c.Header("Content-Security-Policy", "default-src 'self'; script-src 'self' 'unsafe-inline'; "+
		"style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'")
	d.ui.ServeHTTP(c.Writer, c.Request)
}
