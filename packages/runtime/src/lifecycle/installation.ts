// The life of one installation's workload: started on first use or at once, restarted after crashes, stopped when idle.
import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { type Assignment, type InstallationDetail, type InstallationStatus, limits, refuse } from '@platform/contract';
import type { Clock, Log } from '../clock.ts';
import { LaunchError, StartRefused, type Survivor } from '../drivers/driver.ts';
import type { RunningGateway } from '../gateway-port.ts';
import type { LogStore } from '../logs/log-store.ts';
import { CRASHES_AT_MOST, CrashSeries, HEALTHY } from './crash-series.ts';
import type { Slots } from './slots.ts';
import { needsRestart, startWorkload, type Workload, type WorkloadParts } from './workload.ts';

export interface InstallationParts {
  readonly workload: WorkloadParts;
  readonly logs: LogStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly slots: Slots;
  /** Called after every change of the status. */
  readonly onStatus: (installationId: string) => void;
}

type State = InstallationStatus['state'];

/** A workload that does not listen by then is ended. */
const LISTEN_LIMIT = 60_000;
const REACH_LIMIT = limits.workloadStartSeconds.value * 1_000;

export class Installation {
  readonly #parts: InstallationParts;
  #assignment: Assignment;
  #state: State = 'stopped';
  #since: Date;
  #reason: string | undefined;
  #restarts = 0;
  #lastExit: InstallationStatus['lastExit'] = null;
  #workload: Workload | undefined;
  /** The start under way, as long as there is no workload yet. */
  #launching: Promise<Workload> | undefined;
  #networkSettled: Promise<void> = Promise.resolve();
  /** The start, run and end under way; undefined at rest and between attempts. */
  #run: Promise<void> | undefined;
  #abort = new AbortController();
  readonly #crashes = new CrashSeries();
  #lastActivity = 0;
  /** Set while the run is being ended on purpose: its exit is no crash, and nobody may be sent to it any more. */
  #ending: Promise<void> | undefined;
  /** Stopped by hand although `always` is wanted; ends with a start or a new wish. */
  #held = false;
  #cancelTimers: (() => void)[] = [];
  #waiting = new Set<() => void>();

  /** @param survivor What an earlier Runtime left running for it: taken over at once, unless a stop is wanted. */
  constructor(parts: InstallationParts, assignment: Assignment, survivor?: Survivor) {
    this.#parts = parts;
    this.#assignment = assignment;
    this.#since = parts.clock.now();
    if (survivor !== undefined) this.#takeOver(survivor);
    this.#startIfAlways();
  }

  get assignment(): Assignment {
    return this.#assignment;
  }

  /** Resolves when the network of the latest assignment is in effect. Never rejects. */
  get networkSettled(): Promise<void> {
    return this.#networkSettled;
  }

  status(): InstallationStatus {
    return {
      installationId: this.#assignment.installationId,
      state: this.#state,
      since: this.#since.toISOString(),
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
      restarts: this.#restarts,
      lastExit: this.#lastExit,
      unenforced: [
        ...this.#parts.workload.driver.unenforced(this.#assignment.workload),
        ...(this.#workload?.shortfalls() ?? []),
      ],
    };
  }

  /** The status with what the workload uses right now; nothing is used by one that does not run. */
  async detail(): Promise<InstallationDetail> {
    const usage = (await this.#workload?.usage()) ?? null;
    return { ...this.status(), usage: this.#workload === undefined ? null : usage };
  }

  /** Takes a new assignment; a running workload is replaced when what it was started with has changed. */
  async update(assignment: Assignment): Promise<void> {
    const former = this.#assignment;
    this.#assignment = assignment;
    if (!sameNetwork(former, assignment)) this.#networkSettled = this.#takeNetwork(assignment);
    if (assignment.desired !== former.desired) this.#held = false;
    if (assignment.desired === 'stopped') {
      await this.stop();
      return;
    }
    if (needsRestart(former, assignment)) {
      const wasUp = this.#state === 'running' || this.#state === 'starting';
      if (wasUp) this.#say(`Version ${assignment.version} replaces ${former.version}.`);
      await this.#end();
      this.#crashes.forget();
      if (this.#state === 'failed') this.#set('stopped');
      if (wasUp && !this.#held && this.#state === 'stopped') this.#begin();
    }
    this.#startIfAlways();
  }

  /** A workload that cannot be held to what its owner revoked does not go on. */
  async #takeNetwork(assignment: Assignment): Promise<void> {
    // A launch under way began with the former grants, and takes the latest ones when it has a workload.
    const workload = await (this.#launching?.catch(() => undefined) ?? this.#workload);
    try {
      await workload?.applyNetwork(assignment);
    } catch (error) {
      const { installationId } = assignment;
      this.#parts.log.error({ installationId, err: error }, 'a revoked network could not be taken away');
      this.#say('It was ended, because a permission that was revoked could not be taken away while it ran.');
      await this.#end();
      this.#startIfAlways();
    }
    this.#parts.onStatus(assignment.installationId);
  }

  /** An explicit start: clears earlier failures and waits until the workload listens, fails, or 15 s have passed. */
  async start(): Promise<void> {
    this.#held = false;
    this.#crashes.forget();
    // Core has changed its mind before it calls; its list with the news may still be on the way.
    if (this.#assignment.desired === 'stopped') {
      this.#assignment = { ...this.#assignment, desired: this.#assignment.workload.mode };
    }
    await this.#ending;
    if (this.#run === undefined) {
      this.#cancel();
      this.#restarts = 0;
      this.#begin();
    }
    await this.#settled(REACH_LIMIT);
  }

  /** Stops the workload and keeps it down until the next use, or with `always` until the next start. */
  async stop(): Promise<void> {
    this.#held = true;
    await this.#end();
    if (this.#state !== 'stopped' || this.#reason !== undefined) this.#set('stopped');
  }

  /**
   * The Gateway of the running workload, which is started if need be; concurrent callers share one start.
   * @throws RefusalError `workload_unavailable` when it is stopped, failed, or not there within 15 s.
   */
  async reach(): Promise<RunningGateway> {
    if (this.#assignment.desired === 'stopped') throw unavailable('It was stopped by its owner.');
    await this.#ending;
    if (this.#state === 'running' && this.#workload !== undefined) return this.#workload.gateway;
    if (this.#state === 'failed') throw unavailable(this.#reason);
    if (this.#state === 'stopped') this.#begin();
    await this.#settled(REACH_LIMIT);
    if (this.#state === 'running' && this.#workload !== undefined) return this.#workload.gateway;
    throw unavailable(this.#reason ?? 'It did not start in time.');
  }

  /** Resolves when the state is no longer `starting`, or after some milliseconds. */
  #settled(milliseconds: number): Promise<void> {
    if (this.#state !== 'starting') return Promise.resolve();
    return new Promise((resolve) => {
      const check = () => {
        if (this.#state !== 'starting') done();
      };
      const done = () => {
        cancel();
        this.#waiting.delete(check);
        resolve();
      };
      const cancel = this.#parts.clock.after(milliseconds, done);
      this.#waiting.add(check);
    });
  }

  #startIfAlways(): void {
    if (this.#assignment.desired === 'always' && !this.#held && this.#state === 'stopped') this.#begin();
  }

  #takeOver(survivor: Survivor): void {
    if (this.#assignment.desired !== 'stopped') {
      this.#begin(survivor);
      return;
    }
    const { driver, log } = this.#parts.workload;
    this.#ending = driver
      .destroy(survivor)
      .catch((error: unknown) => log.error({ err: error, ...survivor }, 'a former workload could not be ended'))
      .finally(() => {
        this.#ending = undefined;
      });
  }

  #begin(survivor?: Survivor): void {
    this.#abort = new AbortController();
    this.#set('starting');
    const run = this.#live(this.#abort.signal, survivor).finally(() => {
      if (this.#run === run) this.#run = undefined;
    });
    this.#run = run;
  }

  /** One attempt from start to end. Never rejects: every outcome becomes a state. */
  async #live(abort: AbortSignal, survivor?: Survivor): Promise<void> {
    try {
      this.#launching = this.#parts.slots.use(() => this.#launch(abort, survivor));
      const workload = await this.#launching;
      this.#workload = workload;
      this.#launching = undefined;
      const listened = await this.#awaitListening(workload, abort);
      if (listened === 'given up') await workload.stop();
      else if (listened === 'too late') await this.#neverListened(workload);
      const exit = await workload.ended;
      if (listened !== 'too late') this.#afterExit(exit.code, exit.reason);
    } catch (error) {
      if (!abort.aborted) this.#afterFailure(error);
    } finally {
      this.#launching = undefined;
      this.#workload = undefined;
    }
  }

  async #launch(abort: AbortSignal, survivor?: Survivor): Promise<Workload> {
    const { clock, logs, workload: parts } = this.#parts;
    abort.throwIfAborted();
    const assignment = this.#assignment;
    return startWorkload(parts, {
      assignment,
      writer: logs.writer(this.#assignment.installationId),
      now: clock.now,
      onActivity: () => {
        this.#lastActivity = clock.now().getTime();
      },
      abort,
      ...(survivor === undefined ? {} : { survivor }),
    });
  }

  async #awaitListening(
    workload: Workload,
    abort: AbortSignal,
  ): Promise<'listens' | 'ended' | 'given up' | 'too late'> {
    const limit = new AbortController();
    const cancel = this.#parts.clock.after(LISTEN_LIMIT, () => limit.abort());
    const over = AbortSignal.any([abort, limit.signal]);
    const listening = await workload.listening(over);
    // A hostile workload can break the question off and live on; its time still runs out.
    if (!listening && !over.aborted) await Promise.race([workload.ended, once(over, 'abort')]);
    cancel();
    if (abort.aborted) return 'given up';
    if (listening) this.#listening(workload);
    else if (limit.signal.aborted) return 'too late';
    return listening ? 'listens' : 'ended';
  }

  #listening(workload: Workload): void {
    const { clock } = this.#parts;
    this.#set('running');
    this.#lastActivity = clock.now().getTime();
    this.#cancelTimers.push(
      clock.after(HEALTHY, () => {
        this.#crashes.forget();
      }),
    );
    this.#watchIdle(workload);
  }

  #watchIdle(workload: Workload): void {
    const { clock } = this.#parts;
    const idle = (this.#assignment.workload.idleSeconds ?? limits.workloadIdleSeconds.value) * 1_000;
    const check = () => {
      if (this.#workload !== workload || this.#state !== 'running') return;
      const quiet = clock.now().getTime() - this.#lastActivity;
      const busy = workload.gateway.activeRequests() > 0 || this.#assignment.desired === 'always';
      if (!busy && quiet >= idle) {
        this.#say(`Stopped after ${idle / 1_000} s without use.`);
        void this.#end();
        return;
      }
      this.#cancelTimers.push(clock.after(busy ? idle : idle - quiet, check));
    };
    this.#cancelTimers.push(clock.after(idle, check));
  }

  async #neverListened(workload: Workload): Promise<void> {
    const { port } = this.#assignment.workload;
    const ports = workload.ports();
    const instead = ports.length === 0 ? '' : ` It listens on ${ports.join(', ')} instead.`;
    await workload.stop();
    if (this.#ending !== undefined) return;
    this.#crashed(`It did not listen on port ${port} within ${LISTEN_LIMIT / 1_000} s.${instead}`);
  }

  #afterExit(code: number | null, reason: string): void {
    this.#cancel();
    this.#lastExit = { at: this.#parts.clock.now().toISOString(), reason };
    this.#say(reason);
    if (this.#ending !== undefined) return;
    if (code === 0 && this.#assignment.desired !== 'always') {
      this.#set('stopped', reason);
      return;
    }
    this.#crashed(reason);
  }

  #afterFailure(error: unknown): void {
    this.#cancel();
    const { installationId } = this.#assignment;
    if (error instanceof StartRefused) {
      this.#say(error.message);
      this.#set('failed', error.message);
      return;
    }
    const detail = error instanceof LaunchError ? error.detail : String(error);
    this.#parts.log.error({ installationId, detail }, 'a workload could not be started');
    this.#crashed(error instanceof LaunchError ? error.message : 'The platform could not prepare the start.');
  }

  /** Tries again later, or gives up after too many crashes in a row. */
  #crashed(reason: string): void {
    const delay = this.#crashes.next();
    if (delay === undefined) {
      const text = `${reason} It was tried ${CRASHES_AT_MOST} times without a healthy minute.`;
      this.#say(text);
      this.#set('failed', text);
      return;
    }
    this.#set('starting', `${reason} Next attempt in ${delay / 1_000} s.`);
    this.#cancelTimers.push(
      this.#parts.clock.after(delay, () => {
        this.#restarts += 1;
        this.#begin();
      }),
    );
  }

  /** Ends whatever is under way and resolves when it has ended; the state is then `stopped` or still `failed`. */
  #end(): Promise<void> {
    this.#cancel();
    this.#abort.abort();
    this.#ending ??= this.#endRun().finally(() => {
      this.#ending = undefined;
    });
    return this.#ending;
  }

  async #endRun(): Promise<void> {
    await this.#workload?.stop();
    await this.#run;
    if (this.#state === 'starting' || this.#state === 'running') this.#set('stopped');
  }

  #cancel(): void {
    for (const cancel of this.#cancelTimers.splice(0)) cancel();
  }

  #say(line: string): void {
    this.#parts.logs.writer(this.#assignment.installationId).append('system', line);
  }

  #set(state: State, reason?: string): void {
    this.#state = state;
    this.#reason = reason;
    this.#since = this.#parts.clock.now();
    for (const check of [...this.#waiting]) check();
    this.#parts.onStatus(this.#assignment.installationId);
  }
}

function unavailable(reason: string | undefined) {
  return refuse('workload_unavailable', `The backend of the app is not available. ${reason ?? ''}`.trim(), {
    retryAfter: 5,
  });
}

function sameNetwork(one: Assignment, other: Assignment): boolean {
  return isDeepStrictEqual([one.network, one.udpPorts], [other.network, other.udpPorts]);
}
