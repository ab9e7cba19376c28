// Command prose checks and counts the texts of the repository: comments, docs, and the texts in templates and strings.
//
//	go run ./.ci/prose check    # exit 1 if a file contains a phrase of .ci/banned.txt
//	go run ./.ci/prose count    # words and sentence lengths, as in docs/benchmarks.md
//	go run ./.ci/prose files    # the files that check and count read, one per line
//
// The commands read the files that git tracks in the current directory, or the files given after the command.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const listFile = ".ci/banned.txt"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: prose check|count|files [FILE...]")
	}
	banned, err := readBanned(listFile)
	if err != nil {
		return err
	}
	files := args[1:]
	if len(files) == 0 {
		if files, err = trackedFiles(); err != nil {
			return err
		}
	}
	switch args[0] {
	case "check":
		return check(files, banned)
	case "count":
		return count(files, banned)
	case "files":
		fmt.Println(strings.Join(files, "\n"))
		return nil
	}
	return fmt.Errorf("unknown command: use check, count or files")
}

// trackedFiles returns the text files that people write: not generated, vendored or test data.
func trackedFiles() ([]string, error) {
	out, err := exec.CommandContext(context.Background(), "git", "ls-files", "-z").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	var files []string
	for f := range strings.SplitSeq(strings.Trim(string(out), "\x00"), "\x00") {
		if isText(f) {
			files = append(files, f)
		}
	}
	return files, nil
}

func isText(file string) bool {
	for _, part := range []string{"testdata/", "static/vendor/", "_templ.go"} {
		if strings.Contains(file, part) {
			return false
		}
	}
	kinds := []string{".go", ".templ", ".md", ".sql", ".js", ".css", ".yml", ".sh", ".service", "Dockerfile", ".ci/run", "/openapi.json"}
	return slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasSuffix(file, kind) })
}

// readBanned reads one case-insensitive regular expression per line. Lines that start with # are comments.
func readBanned(file string) ([]*regexp.Regexp, error) {
	b, err := os.ReadFile(file) //nolint:gosec // a file of the repository
	if err != nil {
		return nil, err
	}
	var banned []*regexp.Regexp
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		re, err := regexp.Compile("(?i)" + line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		banned = append(banned, re)
	}
	return banned, nil
}

func check(files []string, banned []*regexp.Regexp) error {
	found := 0
	for _, file := range files {
		b, err := os.ReadFile(file) //nolint:gosec // a file of the repository
		if err != nil {
			return err
		}
		for _, hit := range find(b, banned) {
			fmt.Printf("%s:%d: %q\n", filepath.ToSlash(file), hit.line, hit.text)
			found++
		}
	}
	if found > 0 {
		return fmt.Errorf("%d banned phrases: docs/style.md says what to write instead", found)
	}
	return nil
}

type hit struct {
	line int
	text string
}

// lineBreak matches a line break with the indentation and the comment marker of the next line. A phrase may continue there.
var lineBreak = regexp.MustCompile(`[ \t]*\n[ \t]*(//|--|#|\*)?[ \t]*`)

// find returns the banned phrases in a text, ordered by line.
func find(text []byte, banned []*regexp.Regexp) (hits []hit) {
	joined := lineBreak.ReplaceAllFunc(text, func(s []byte) []byte {
		return append([]byte(" "), bytes.Repeat([]byte{0}, len(s)-1)...)
	})
	// plain is the text without the padding. offsets maps its bytes to those of the file, for line numbers.
	plain, offsets := make([]byte, 0, len(joined)), make([]int, 0, len(joined))
	for i, c := range joined {
		if c != 0 {
			plain, offsets = append(plain, c), append(offsets, i)
		}
	}
	for _, re := range banned {
		for _, m := range re.FindAllIndex(plain, -1) {
			line := 1 + bytes.Count(text[:offsets[m[0]]], []byte("\n"))
			hits = append(hits, hit{line, string(plain[m[0]:m[1]])})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return a.line - b.line })
	return hits
}
