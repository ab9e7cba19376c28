package textdiff

import "strings"

// linePair is a pair of line numbers in the two texts; -1 = none.
type linePair struct{ old, new int }

// minCommonShare is the minimum share of common words at which two lines count as one changed line.
const minCommonShare = 0.4

// pair aligns lines in order, so that as many words as possible are in both lines of a couple. Long blocks are aligned line
// by line.
func pair(removed, added []string) (out []linePair) {
	n, m := len(removed), len(added)
	if n > maxLines || m > maxLines {
		for i := range max(n, m) {
			c := linePair{i, i}
			if i >= n {
				c.old = -1
			}
			if i >= m {
				c.new = -1
			}
			out = append(out, c)
		}
		return out
	}
	// best[i][j] is the maximum share of common words for the lines from i and from j.
	best, share := make([][]float64, n+1), make([][]float64, n+1)
	words := make([]map[string]int, m)
	for j, l := range added {
		words[j] = counted(l)
	}
	for i := range best {
		best[i], share[i] = make([]float64, m+1), make([]float64, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			share[i][j] = commonShare(removed[i], words[j])
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if share[i][j] >= minCommonShare {
				best[i][j] = max(best[i][j], share[i][j]+best[i+1][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < n || j < m {
		switch {
		case i < n && j < m && share[i][j] >= minCommonShare && best[i][j] == share[i][j]+best[i+1][j+1]:
			out = append(out, linePair{i, j})
			i++
			j++
		case i < n && (j == m || best[i][j] == best[i+1][j]):
			out = append(out, linePair{i, -1})
			i++
		default:
			out = append(out, linePair{-1, j})
			j++
		}
	}
	return out
}

func counted(line string) map[string]int {
	n := map[string]int{}
	for _, t := range split(line) {
		n[strings.TrimSpace(t)]++
	}
	return n
}

// commonShare returns the share of words that a line has in common with another.
func commonShare(line string, words map[string]int) float64 {
	tokens, both, all := split(line), 0, 0
	left := make(map[string]int, len(words))
	for w, n := range words {
		left[w] = n
		all += n
	}
	for _, t := range tokens {
		if t = strings.TrimSpace(t); left[t] > 0 {
			left[t]--
			both++
		}
	}
	if all += len(tokens); all == 0 {
		return 1
	}
	return 2 * float64(both) / float64(all)
}
