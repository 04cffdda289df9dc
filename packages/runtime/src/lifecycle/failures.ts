// The workloads that were given up after crashing again and again. A restart of the Runtime must not forget them: each
// would be tried five times more, and its owner would no longer read why it does not run.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Assignment, type InstallationStatus, installationStatus } from '@platform/contract';
import { writeFileAtomically } from '../atomic-file.ts';
import type { Log } from '../clock.ts';
import { fingerprintOf } from './start-relevant.ts';

interface Failure {
  /** Names what was started; anything else is worth another try. */
  readonly startedWith: string;
  readonly status: InstallationStatus;
}

export interface Failures {
  /** The status in which this assignment was given up; forgets one that was about something else. */
  recall(assignment: Assignment): InstallationStatus | undefined;
  /** On the disk when it returns. */
  keep(assignment: Assignment, status: InstallationStatus): void;
  forget(installationId: string): void;
}

/** An unreadable file is logged and replaced by an empty one: the workloads in it are started again. */
export function openFailures(file: string, log: Log): Failures {
  const kept = new Map(readFailures(file, log).map((failure) => [failure.status.installationId as string, failure]));
  const write = () => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileAtomically(file, `${JSON.stringify([...kept.values()], null, 1)}\n`, 0o600);
  };
  const forget = (installationId: string) => {
    if (kept.delete(installationId)) write();
  };
  return {
    recall(assignment) {
      const failure = kept.get(assignment.installationId);
      if (failure === undefined || failure.startedWith === fingerprintOf(assignment)) return failure?.status;
      forget(assignment.installationId);
      return undefined;
    },
    keep(assignment, status) {
      kept.set(assignment.installationId, { startedWith: fingerprintOf(assignment), status });
      write();
    },
    forget,
  };
}

function readFailures(file: string, log: Log): Failure[] {
  if (!existsSync(file)) return [];
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as unknown[]).map(failureOf);
  } catch (error) {
    log.warn({ err: error }, 'the list of failed workloads could not be read; they will be started again');
    return [];
  }
}

function failureOf(value: unknown): Failure {
  const { startedWith, status } = value as Partial<Record<string, unknown>>;
  if (typeof startedWith !== 'string') throw new Error('an entry does not say what was started');
  return { startedWith, status: installationStatus.parse(status) };
}
