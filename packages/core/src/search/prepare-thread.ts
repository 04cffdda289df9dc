// A thread that prepares what prepare-pool.ts hands to it.
import { serveJobs } from '../background/thread-jobs.ts';
import { type EntriesJob, prepareEntries, prepareWords, type WordsJob } from './prepare-entries.ts';

serveJobs((job: EntriesJob | WordsJob) => (job.kind === 'entries' ? prepareEntries(job) : prepareWords(job)));
