package outbound

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/jimsmart/grobotstxt"
)

const (
	maxCrawlDelay = time.Minute
	tokenBytes    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789#$%'*+-.^_`|~" // in the name of a crawler
)

// robotsRules are the rules of a robots.txt that apply to one agent.
type robotsRules struct {
	rules []robotsRule // the longest first; allow rules before others of the same length
	delay time.Duration
}

type robotsRule struct {
	pattern string
	allow   bool
}

// parseRobots parses a robots.txt. It returns the groups of agent or else those of *.
func parseRobots(body, agent string) robotsRules {
	var p robotsParser
	p.agent = agent
	grobotstxt.Parse(body, &p)
	group := p.global
	if p.seenAgent {
		group = p.specific
		if group.delay == 0 {
			group.delay = p.global.delay
		}
	}
	slices.SortStableFunc(group.rules, func(a, b robotsRule) int {
		if c := cmp.Compare(len(b.pattern), len(a.pattern)); c != 0 || a.allow == b.allow {
			return c
		}
		if a.allow {
			return -1
		}
		return 1
	})
	group.compact()
	return group
}

// compact copies the patterns, which keep the whole file in memory otherwise.
func (r *robotsRules) compact() {
	var all strings.Builder
	for _, rule := range r.rules {
		all.WriteString(rule.pattern)
	}
	rest, rules := all.String(), make([]robotsRule, len(r.rules))
	for i, rule := range r.rules {
		n := len(rule.pattern)
		rules[i], rest = robotsRule{rest[:n], rule.allow}, rest[n:]
	}
	r.rules = rules
}

// size is the approximate memory of the rules in bytes.
func (r *robotsRules) size() int {
	n := 24 * len(r.rules)
	for _, rule := range r.rules {
		n += len(rule.pattern)
	}
	return n
}

// allow reports whether a path with its query may be requested. The longest matching rule counts.
func (r *robotsRules) allow(path string) bool {
	if len(r.rules) == 0 {
		return true
	}
	path = unescapeUnreserved(path)
	for _, rule := range r.rules {
		if matchesRobots(path, rule.pattern) {
			return rule.allow
		}
	}
	return true
}

// matchesRobots reports whether pattern matches the start of path: * matches any characters, and a final $ the end of path.
// It is grobotstxt.Matches in linear time and without allocations, because files may have thousands of rules.
func matchesRobots(path, pattern string) bool {
	pattern, toEnd := strings.CutSuffix(pattern, "$")
	part, pattern, more := strings.Cut(pattern, "*")
	if !strings.HasPrefix(path, part) {
		return false
	}
	path = path[len(part):]
	for more {
		part, pattern, more = strings.Cut(pattern, "*")
		if !more && toEnd {
			return strings.HasSuffix(path, part)
		}
		at := strings.Index(path, part)
		if at < 0 {
			return false
		}
		path = path[at+len(part):]
	}
	return !toEnd || path == ""
}

// unescapeUnreserved normalizes a path for comparison (RFC 9309, 2.2.2): letters, digits and -._~ without escapes, and other
// escapes in upper case.
func unescapeUnreserved(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	out := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' && i+2 < len(path) {
			// grobotstxt clears this bit in the digits of a pattern's escapes.
			hex := string([]byte{path[i+1] | 0x20, path[i+2] | 0x20})
			if v, err := strconv.ParseUint(hex, 16, 8); err == nil {
				if v != '/' && plainBytes[v]&pathByte != 0 {
					out = append(out, byte(v))
				} else {
					out = append(append(out, '%'), strings.ToUpper(hex)...)
				}
				i += 2
				continue
			}
		}
		out = append(out, c)
	}
	return string(out)
}

// robotsParser implements grobotstxt.ParseHandler. As in grobotstxt.RobotsMatcher, only a rule ends the list of agents of a
// group.
type robotsParser struct {
	agent                string
	global, specific     robotsRules
	inGlobal, inSpecific bool // agents of the current group
	ruled                bool // the current group has a rule
	seenAgent            bool // the file has a group of agent
}

// HandleRobotsStart does nothing.
func (p *robotsParser) HandleRobotsStart() {}

// HandleRobotsEnd does nothing.
func (p *robotsParser) HandleRobotsEnd() {}

// HandleSitemap does nothing.
func (p *robotsParser) HandleSitemap(int, string) {}

// HandleUserAgent starts a group or adds an agent to it.
func (p *robotsParser) HandleUserAgent(_ int, value string) {
	if p.ruled {
		p.inGlobal, p.inSpecific, p.ruled = false, false, false
	}
	if rest, ok := strings.CutPrefix(value, "*"); ok && (rest == "" || unicode.IsSpace(rune(rest[0]))) {
		p.inGlobal = true
		return
	}
	name := strings.TrimLeft(value, tokenBytes)
	if name = value[:len(value)-len(name)]; name != "" && strings.EqualFold(name, p.agent) {
		p.inSpecific, p.seenAgent = true, true
	}
}

// HandleAllow adds a rule.
func (p *robotsParser) HandleAllow(_ int, value string) {
	p.rule(value, true)
	// As Google does: "Allow: /a/index.html" also allows /a/.
	if slash := strings.LastIndexByte(value, '/'); slash >= 0 && strings.HasPrefix(value[slash:], "/index.htm") {
		p.rule(value[:slash+1]+"$", true)
	}
}

// HandleDisallow adds a rule.
func (p *robotsParser) HandleDisallow(_ int, value string) { p.rule(value, false) }

func (p *robotsParser) rule(pattern string, allow bool) {
	group := p.group()
	if group == nil {
		return
	}
	p.ruled = true
	if pattern != "" { // an empty pattern matches nothing
		group.rules = append(group.rules, robotsRule{unescapeUnreserved(pattern), allow})
	}
}

// HandleUnknownAction stores the longest Crawl-delay.
func (p *robotsParser) HandleUnknownAction(_ int, action, value string) {
	group := p.group()
	if group == nil || !strings.EqualFold(action, "crawl-delay") {
		return
	}
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 {
		group.delay = max(group.delay, time.Duration(min(seconds, maxCrawlDelay.Seconds())*float64(time.Second)))
	}
}

// group returns the rules that the current group adds to, or nil. The agent has priority over *.
func (p *robotsParser) group() *robotsRules {
	switch {
	case p.inSpecific:
		return &p.specific
	case p.inGlobal:
		return &p.global
	}
	return nil
}
