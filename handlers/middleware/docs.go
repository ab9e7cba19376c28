package middleware

import (
	_ "embed" // for the page of Swagger UI
	"net/http"
	"sync"

	"github.com/gin-gonic/gin"
	"github.com/swaggest/swgui/v5/static"
	"github.com/vearutop/statigz"
)

// swaggerUI is the page of Swagger UI. The page of the library is an html/template. With code that executes templates, the
// linker keeps each exported method of each type in the program, which is a third of its size.
//
//go:embed swagger.html
var swaggerUI []byte

// swaggerStart is the script that starts Swagger UI.
//
//go:embed swagger.js
var swaggerStart []byte

// Docs serves the OpenAPI documents and Swagger UI.
type Docs struct {
	errs     *Errors
	v31, v30 func() ([]byte, error)
	assets   http.Handler
}

// NewDocs returns the handlers for a description. The documents are generated at the first
// request and then cached.
func NewDocs(errs *Errors, d interface {
	OpenAPI() ([]byte, error)
	OpenAPI30() ([]byte, error)
}) *Docs {
	return &Docs{errs, sync.OnceValues(d.OpenAPI), sync.OnceValues(d.OpenAPI30), http.StripPrefix("/apidoc/", statigz.FileServer(static.FS))}
}

// OpenAPI answers GET /openapi.json (OpenAPI 3.1).
func (d *Docs) OpenAPI(c *gin.Context) { d.write(c, d.v31) }

// OpenAPI30 answers GET /openapi-3.0.json.
func (d *Docs) OpenAPI30(c *gin.Context) { d.write(c, d.v30) }

func (d *Docs) write(c *gin.Context, document func() ([]byte, error)) {
	b, err := document()
	if err != nil {
		d.errs.Write(c, err)
		return
	}
	c.Data(http.StatusOK, "application/json", b)
}

// SwaggerUI answers GET /apidoc with the embedded Swagger UI. Its page has inline styles, so this route has
// another Content-Security-Policy.
func (d *Docs) SwaggerUI(c *gin.Context) {
	c.Header("Content-Security-Policy", "default-src 'self'; "+
		"style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'")
	switch c.Request.URL.Path {
	case "/apidoc", "/apidoc/":
		c.Data(http.StatusOK, "text/html; charset=utf-8", LocalURLs(c.Request.Context(), swaggerUI))
		return
	case "/apidoc/start.js":
		c.Data(http.StatusOK, "text/javascript; charset=utf-8", swaggerStart)
		return
	}
	d.assets.ServeHTTP(c.Writer, c.Request)
}
