//go:build e2e

package bench

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/e2e"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/modelstest"
)

var (
	dataFolder = flag.String("data", "", "keep the databases of TestRouteFigures in `folder`, and on PostgreSQL with fixed names, and reuse them")
	manyRows   = flag.Int("rows", 1_000_000, "rows per table of the larger databases of TestRouteFigures")
	onlyRoutes = flag.String("routes", "", "measure only the routes of TestRouteFigures that match `regexp`")
)

const (
	fewRows      = 10_000
	routeSamples = 40
	routesKey    = "SECRET_KEY=that of the benchmark of all routes"
)

// TestRouteFigures measures every GET route of the golden list on databases with 10,000 and with 1,000,000 rows in each
// main table. It asserts no times, but fails if a route of the list is neither measured nor skipped by name.
func TestRouteFigures(t *testing.T) {
	if !*figures {
		t.Skip("skipped without -figures (task bench)")
	}
	t.Run(models.SQLite, func(t *testing.T) { routeFigures(t, "SQLite", sqliteRoutes) })
	if os.Getenv("TEST_POSTGRES_URL") != "" {
		t.Run(models.Postgres, func(t *testing.T) { routeFigures(t, "PostgreSQL", postgresRoutes) })
	}
}

// routeFigures measures all routes on the databases that open returns, and prints a table.
func routeFigures(t *testing.T, engine string, open func(t *testing.T, n int) (store string)) {
	var walks [2]*walk
	var requests [2][]request
	for size, n := range []int{fewRows, *manyRows} {
		walks[size] = newWalk(t, open(t, n), n)
		requests[size] = walks[size].requests()
	}
	var names []string
	took := map[string][2]times{} // with few and with many rows
	for i, few := range requests[0] {
		names = append(names, few.name)
		took[few.name] = measureBoth(walks, [2]request{few, requests[1][i]})
	}
	for _, w := range walks {
		w.server.Stop()
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(systemOf(a), systemOf(b)) })
	var b strings.Builder
	fmt.Fprintf(&b, "\nGET routes with %d and %d rows per table, %s\n\n| system | request | few rows | many rows | ratio of p95 | |\n|---|---|---|---|---|---|\n", fewRows, *manyRows, engine)
	for _, name := range names {
		few, many := took[name][0], took[name][1]
		missed := ""
		if many.p95 > 50 || many.p95 > 5 && many.p95 > 1.3*few.p95 {
			missed = "missed"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %.2f | %s |\n", systemOf(name), name, few, many, many.p95/few.p95, missed)
	}
	fmt.Print(b.String())
	if *dataFolder != "" {
		if err := os.WriteFile(filepath.Join(*dataFolder, "walk-"+strings.ToLower(engine)+".txt"), []byte(b.String()), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// sqliteRoutes returns an SQLite file with n rows per table.
func sqliteRoutes(t *testing.T, n int) string {
	t.Helper()
	if *dataFolder == "" {
		file := filepath.Join(t.TempDir(), "routes.db")
		fillRoutes(t, file, n)
		return file
	}
	file := filepath.Join(*dataFolder, fmt.Sprintf("routes-%d.db", n))
	if _, err := os.Stat(file); err == nil {
		return file
	}
	for _, suffix := range []string{"", "-wal", "-shm"} { // of a run that was interrupted
		_ = os.Remove(file + ".part" + suffix)
	}
	fillRoutes(t, file+".part", n)
	if err := os.Rename(file+".part", file); err != nil {
		t.Fatal(err)
	}
	return file
}

// postgresRoutes returns the URL of a PostgreSQL database with n rows per table.
func postgresRoutes(t *testing.T, n int) string {
	t.Helper()
	if *dataFolder == "" {
		store := modelstest.NewPostgres(t)
		fillRoutes(t, store, n)
		return store
	}
	server, err := sql.Open("pgx", os.Getenv("TEST_POSTGRES_URL"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	name := fmt.Sprintf("linkwatch_routes_%d", n)
	at, err := url.Parse(os.Getenv("TEST_POSTGRES_URL"))
	if err != nil {
		t.Fatal(err)
	}
	at.Path = "/" + name
	var found int
	if err := server.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_database WHERE datname = $1", name).Scan(&found); err != nil {
		t.Fatal(err)
	}
	if found == 1 {
		return at.String()
	}
	part := *at
	part.Path += "_part"
	for _, step := range []string{"DROP DATABASE IF EXISTS " + name + "_part WITH (FORCE)", "CREATE DATABASE " + name + "_part", "", "ALTER DATABASE " + name + "_part RENAME TO " + name} {
		if step == "" {
			fillRoutes(t, part.String(), n)
		} else if _, err := server.ExecContext(t.Context(), step); err != nil {
			t.Fatal(err)
		}
	}
	return at.String()
}

// walk measures the routes of one database.
type walk struct {
	*testing.T
	server *e2e.Server
	db     *models.DB
	n      int
	admin  string // token of an admin
	editor string // token of an editor who has private items
	client http.Client
	tokens map[string]string // page tokens by list
}

func newWalk(t *testing.T, store string, n int) *walk {
	t.Helper()
	db, closeDB := e2e.OpenDatabase(t, store)
	t.Cleanup(closeDB)
	w := &walk{T: t, db: db, n: n, tokens: map[string]string{}}
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	modelstest.Exec(t, db, "DELETE FROM tokens WHERE name = 'walk'")
	users := accounts.NewStore(db, time.Now, accounts.Options{})
	token := func(name string) string {
		t.Helper()
		var u accounts.User
		if err := db.Read(t.Context()).Take(&u, "username = ?", name).Error; err != nil {
			t.Fatal(err)
		}
		_, secret, err := users.AddToken(t.Context(), u, accounts.NewToken{Name: "walk", Scopes: []string{"read", "write", "admin"}[:map[string]int{"root": 3, "alice": 2}[name]]})
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	w.admin, w.editor = token("root"), token("alice")
	w.server = e2e.Start(t, "DATABASE_URL="+store, routesKey, "CHECK_INTERVAL=24h", "CRAWLER_POLL_INTERVAL=1h", "LINK_CHECK_INTERVAL=8760h", "CLEANUP_INTERVAL=24h", "RESULT_RETENTION=8760h", "SITEMAP_INTERVAL=168h")
	untilReady(t, w.server)
	return w
}

// request is a request to measure.
type request struct{ name, path, token string }

// requests returns a request for each GET route, and for the variants of lists.
func (w *walk) requests() (all []request) {
	only, err := regexp.Compile(*onlyRoutes)
	if err != nil {
		w.Fatal(err)
	}
	golden, err := os.ReadFile("../app/testdata/routes.txt")
	if err != nil {
		w.Fatal(err)
	}
	for line := range strings.Lines(string(golden)) {
		f := strings.Fields(line)
		if f[1] != http.MethodGet || len(f) > 3 || skippedRoutes[f[2]] != "" { // the routes of SHORT_HOST are the same handlers
			continue
		}
		route, token := f[2], w.editor
		if f[0] == "admin" {
			token = w.admin
		}
		if !only.MatchString(route) {
			continue
		}
		path := w.pathOf(route)
		all = append(all, request{route, path + routeSuffixes[route], token})
		variants := routeVariants[route]
		if len(variants) > 0 && f[0] != "admin" {
			all = append(all, request{route + " as an admin", path, w.admin})
		}
		for _, v := range variants {
			all = append(all, request{route + v, path + w.complete(v), token})
		}
	}
	return all
}

// pathOf replaces the parameters of a route.
func (w *walk) pathOf(route string) string {
	parts := strings.Split(route, "/")
	given := slices.Clone(parts)
	for i, p := range given {
		if !strings.HasPrefix(p, ":") {
			continue
		}
		short, long := given[i-1]+"/"+p, given[max(i-2, 0)]+"/"+given[i-1]+"/"+p
		value := cmp.Or(routeParams[long], routeParams[short])
		if value == "" {
			w.Fatalf("the route GET %s has no path to measure: add %q to routeParams, or the route to skippedRoutes", route, short)
		}
		parts[i] = w.value(value)
	}
	return strings.Join(parts, "/")
}

// value returns a value of routeParams: the result of a query, or a text.
func (w *walk) value(of string) string {
	if !strings.HasPrefix(of, "SELECT ") {
		return of
	}
	kind, query := "", of
	if before, after, ok := strings.Cut(of, "TIMED "); ok { // the id is computed from created_at and seq
		kind, query = after[:1], before+"created_at, seq"+after[1:]
	}
	query = strings.ReplaceAll(query, "{n}", fmt.Sprint(w.n))
	if kind == "" {
		var value string
		if err := w.db.Read(w.Context()).Raw(query).Scan(&value).Error; err != nil || value == "" {
			w.Fatalf("%s: %q, %v", query, value, err)
		}
		return value
	}
	var found struct {
		CreatedAt models.Time
		Seq       int64
	}
	if err := w.db.Read(w.Context()).Raw(query).Scan(&found).Error; err != nil || found.Seq == 0 {
		w.Fatalf("%s: %v", query, err)
	}
	return models.TimedID(models.Kind(kind), found.CreatedAt, found.Seq)
}

// complete replaces the placeholders of a variant: {deep LIST} with the token of a page far into an API list, {last 30}
// with the number of the last page of 30 rows, and {NAME} with a value of routeParams.
func (w *walk) complete(variant string) string {
	before, rest, ok := strings.Cut(variant, "{")
	if !ok {
		return variant
	}
	what, after, _ := strings.Cut(rest, "}")
	name, arg, _ := strings.Cut(what, " ")
	var value string
	switch name {
	case "deep":
		value = url.QueryEscape(w.deep(arg))
	case "last":
		size := 1
		_, _ = fmt.Sscan(arg, &size)
		value = fmt.Sprint(w.n / size * 98 / 100) // two in a hundred links are not visible to the editor or have expired
	default:
		value = w.value(routeParams[name])
	}
	return before + value + w.complete(after)
}

// deep follows the page tokens of an API list for 20 pages, or to its last page.
func (w *walk) deep(route string) string {
	path := w.pathOf(route)
	token := w.tokens[path]
	for range 20 {
		if w.tokens[path] != "" {
			break
		}
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		var page struct {
			Next string `json:"next_page_token"`
		}
		if _, err := w.get(request{path: path + sep + "limit=500&page_token=" + url.QueryEscape(token), token: w.editor}, &page); err != nil {
			w.Fatal(err)
		}
		if page.Next == "" {
			break
		}
		token = page.Next
	}
	w.tokens[path] = token
	return token
}

// get sends a request, decodes a JSON response into out (nil: ignores it) and returns the time in milliseconds.
func (w *walk) get(r request, out any) (took float64, err error) {
	req, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.server.URL+r.path, http.NoBody)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	started := time.Now()
	res, err := w.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	took = time.Since(started).Seconds() * 1000
	if err == nil && res.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("GET %s: %s: %.300s", r.path, res.Status, body)
	}
	if err == nil && out != nil {
		err = json.Unmarshal(body, out)
	}
	return took, err
}

// times are quantiles of the times of a request, in milliseconds.
type times struct{ p50, p95 float64 }

func (t times) String() string { return fmt.Sprintf("p50 %.1f, p95 %.1f ms", t.p50, t.p95) }

// measureBoth sends a request repeatedly, in turn to the servers with few and with many rows. So what else the machine does
// delays both alike.
func measureBoth(walks [2]*walk, r [2]request) (both [2]times) {
	const warmups = 3
	var all [2][]float64
	for i := range warmups + routeSamples {
		slowest := 0.0
		for size, w := range walks {
			took, err := w.get(r[size], nil)
			if err != nil {
				w.Error(err)
				return both
			}
			if slowest = max(slowest, took); i >= warmups {
				all[size] = append(all[size], took)
			}
		}
		if slowest > 2000 && i >= warmups { // it missed: more requests would show nothing
			break
		}
	}
	for size := range both {
		both[size] = times{quantile(all[size], 0.5), quantile(all[size], 0.95)}
	}
	return both
}

// systemOf returns the system of a route.
func systemOf(route string) string {
	for _, s := range routeSystems {
		for prefix := range strings.FieldsSeq(s.prefixes) {
			if strings.HasPrefix(strings.TrimPrefix(route, "/v1"), prefix) {
				return s.name
			}
		}
	}
	return "other"
}
