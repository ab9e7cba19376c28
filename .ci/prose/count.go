package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"regexp"
	"strings"
)

// count prints statistics: words in Go comments, words in docs, the average sentence length of the docs, and banned
// phrases in all files.
func count(files []string, banned []*regexp.Regexp) error {
	var code, tests, docs, sentences, sentenceWords, phrases int
	for _, file := range files {
		b, err := os.ReadFile(file) //nolint:gosec // a file of the repository
		if err != nil {
			return err
		}
		phrases += len(find(b, banned))
		switch {
		case strings.HasSuffix(file, "_test.go"):
			tests += goCommentWords(b)
		case strings.HasSuffix(file, ".go"):
			code += goCommentWords(b)
		case strings.HasSuffix(file, ".md"):
			docs += len(strings.Fields(string(b)))
			n, words := sentencesOf(string(b))
			sentences += n
			sentenceWords += words
		}
	}
	fmt.Printf("words in comments of Go code   %6d\n", code)
	fmt.Printf("words in comments of Go tests  %6d\n", tests)
	fmt.Printf("words in README and docs       %6d\n", docs)
	fmt.Printf("words per sentence in docs     %6.1f\n", float64(sentenceWords)/float64(max(sentences, 1)))
	fmt.Printf("banned phrases                 %6d\n", phrases)
	return nil
}

func goCommentWords(src []byte) (words int) {
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile("", set.Base(), len(src)), src, nil, scanner.ScanComments)
	for {
		_, tok, text := s.Scan()
		if tok == token.EOF {
			return words
		}
		if tok == token.COMMENT && !strings.HasPrefix(text, "//go:") {
			words += len(strings.Fields(strings.Trim(text, "/*")))
		}
	}
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?][)*_"”]*(\s|$)`)
	listMarker  = regexp.MustCompile(`^\s*([-*]|\d+\.)\s`)
	aWord       = regexp.MustCompile(`[\pL\pN]`)
)

// sentencesOf counts the sentences of a Markdown text and their words. It leaves out code, tables and headings: they have
// no sentences.
func sentencesOf(markdown string) (sentences, words int) {
	var paragraph strings.Builder
	end := func() {
		for _, s := range sentenceEnd.Split(paragraph.String(), -1) {
			n := 0
			for _, w := range strings.Fields(s) {
				if aWord.MatchString(w) {
					n++
				}
			}
			if n > 0 {
				sentences++
				words += n
			}
		}
		paragraph.Reset()
	}
	fenced := false
	for line := range strings.Lines(markdown) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") {
			fenced = !fenced
			end()
			continue
		}
		if fenced || strings.HasPrefix(trimmed, "|") || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "!") || trimmed == "" {
			end()
			continue
		}
		if listMarker.MatchString(line) {
			end()
			line = listMarker.ReplaceAllString(line, "")
		}
		paragraph.WriteString(line)
		paragraph.WriteByte(' ')
	}
	end()
	return sentences, words
}
