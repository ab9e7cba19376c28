package outbound

// trait says how an element affects the text of a page. Inline elements without a trait are not in elements.
type trait uint8

const (
	separates trait = 1 << iota // its text is separate from the text around it
	hides                       // its content is one text token, which browsers do not show
	inHead                      // it may be in the head, so it does not start the body
	breaksOut                   // it ends an unclosed <svg> or <math> (WHATWG HTML, 13.2.6.5)
)

var elements = map[string]trait{
	"base": inHead, "basefont": inHead, "bgsound": inHead, "head": inHead | separates | breaksOut, "html": inHead | separates,
	"link": inHead, "meta": inHead | breaksOut, "noframes": inHead | hides, "noscript": inHead | hides, "script": inHead | hides,
	"style": inHead | hides, "template": inHead, "title": inHead | hides, "iframe": hides, "noembed": hides,

	"blockquote": separates | breaksOut, "body": separates | breaksOut, "br": separates | breaksOut,
	"center": separates | breaksOut, "dd": separates | breaksOut, "div": separates | breaksOut, "dl": separates | breaksOut,
	"dt": separates | breaksOut, "h1": separates | breaksOut, "h2": separates | breaksOut, "h3": separates | breaksOut,
	"h4": separates | breaksOut, "h5": separates | breaksOut, "h6": separates | breaksOut, "hr": separates | breaksOut,
	"li": separates | breaksOut, "listing": separates | breaksOut, "menu": separates | breaksOut, "ol": separates | breaksOut,
	"p": separates | breaksOut, "pre": separates | breaksOut, "table": separates | breaksOut, "ul": separates | breaksOut,

	"b": breaksOut, "big": breaksOut, "code": breaksOut, "em": breaksOut, "embed": breaksOut, "i": breaksOut, "img": breaksOut,
	"nobr": breaksOut, "ruby": breaksOut, "s": breaksOut, "small": breaksOut, "span": breaksOut, "strike": breaksOut,
	"strong": breaksOut, "sub": breaksOut, "sup": breaksOut, "tt": breaksOut, "u": breaksOut, "var": breaksOut,

	"address": separates, "article": separates, "aside": separates, "audio": separates, "button": separates,
	"canvas": separates, "caption": separates, "col": separates, "colgroup": separates, "details": separates,
	"dialog": separates, "dir": separates, "fieldset": separates, "figcaption": separates, "figure": separates,
	"footer": separates, "form": separates, "frame": separates, "frameset": separates, "header": separates,
	"hgroup": separates, "input": separates, "legend": separates, "main": separates, "nav": separates, "object": separates,
	"optgroup": separates, "option": separates, "plaintext": separates, "search": separates, "section": separates,
	"select": separates, "summary": separates, "tbody": separates, "td": separates, "textarea": separates, "tfoot": separates,
	"th": separates, "thead": separates, "tr": separates, "video": separates, "xmp": separates,
}
