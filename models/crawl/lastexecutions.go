package crawl

import (
	"context"
	"fmt"
)

// LastExecutions returns the newest execution of each job, by the key of the job. It omits jobs that have not run. It needs
// one query.
func (s *Store) LastExecutions(ctx context.Context, js []Job) (map[int64]Execution, error) {
	seqs := make([]int64, len(js))
	for i, j := range js {
		seqs[i] = j.Seq
	}
	var found []Execution
	err := executions(s.db.Read(ctx)).Where("job_executions.job_seq IN ? AND job_executions.execution_number = jobs.executions", seqs).Find(&found).Error
	if err != nil {
		return nil, fmt.Errorf("load last executions of jobs: %w", err)
	}
	last := make(map[int64]Execution, len(found))
	for _, e := range found {
		last[e.JobSeq] = e
	}
	return last, nil
}
