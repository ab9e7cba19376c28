//go:build e2e

package e2e

import "testing"

func TestRunJobNow(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		s := Start(t)
		b := browse(t, s, in, "/admin/jobs")
		b.has("#job-revalidation")
		b.click("#job-reaper button")
		b.see("The job will start in a few seconds.")
		b.wait(`Number(document.querySelector("#job-reaper [data-label=Runs]").textContent) >= 1`) // the table refreshes itself
		b.wait(`Number(document.querySelector("#job-reaper [data-label=Successes]").textContent) >= 1`)
		b.click("#job-reaper a.title")
		b.see("manual")
	})
}
