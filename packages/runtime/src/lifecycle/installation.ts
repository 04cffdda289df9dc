// The life of one installation's workload: started on first use or at once, restarted after crashes, stopped when idle.
import { type Assignment, type InstallationDetail, type InstallationStatus, limits, refuse } from '@platform/contract';
import type { Clock, Log } from '../clock.ts';
import type { CoreClient } from '../core-client.ts';
import { DISK_FULL, type DiskLevel, type DiskWatch } from '../disk-watch.ts';
import type { Survivor } from '../drivers/driver.ts';
import type { RunningGateway } from '../gateway-port.ts';
import type { LogStore } from '../logs/log-store.ts';
import { attempt, type Outcome } from './attempt.ts';
import { Clients } from './clients.ts';
import { CRASHES_AT_MOST, CrashSeries, HEALTHY, LONGEST_DELAY } from './crash-series.ts';
import type { Failures } from './failures.ts';
import { IdleWatch } from './idle-watch.ts';
import { BEING_COPIED, type Resting } from './resting.ts';
import { ShownState, type State } from './shown-state.ts';
import type { Slots } from './slots.ts';
import { whyRestart } from './start-relevant.ts';
import { publicPorts, sameGrants, unlimitedVolume, writesDisk } from './status-facts.ts';
import { stillStarting, unavailable } from './unavailable.ts';
import { prepareWorkload, startWorkload, type Workload, type WorkloadParts } from './workload.ts';

export interface InstallationParts {
  readonly workload: WorkloadParts;
  readonly logs: LogStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly slots: Slots;
  readonly core: Pick<CoreClient, 'leasesEndIn' | 'validCapabilities'>;
  readonly failures: Failures;
  readonly disk: Pick<DiskWatch, 'level'>;
  readonly resting: Pick<Resting, 'has'>;
  /** Called after every change of the status. */
  readonly onStatus: (installationId: string) => void;
}

const REACH_LIMIT = limits.workloadStartSeconds.value * 1_000;

export class Installation {
  readonly #parts: InstallationParts;
  #assignment: Assignment;
  readonly #shown: ShownState;
  #workload: Workload | undefined;
  /** The start under way, as long as there is no workload yet. */
  #launching: Promise<Workload> | undefined;
  #grantsSettled: Promise<void> = Promise.resolve();
  #clientsSettled: Promise<void> = Promise.resolve();
  /** Who may reach its backend. */
  readonly clients: Clients;
  /** The start, run and end under way; undefined at rest and between attempts. */
  #run: Promise<void> | undefined;
  #abort = new AbortController();
  readonly #crashes = new CrashSeries();
  /** Whether what is wrong with the start under way lies in the workload, and not in what the platform could not do. */
  #isItsFault = false;
  /** While an automatic workload listens. */
  #idle: IdleWatch | undefined;
  /** Set while the run is being stopped: its exit is no crash, and it gets no further requests. */
  #ending: Promise<void> | undefined;
  /** Stopped manually although the mode is `always`; reset by a start or a new assignment. */
  #held = false;
  /** Stopped because the disk is full, or not started. */
  #yielded = false;
  #cancelTimers: (() => void)[] = [];

  /** @param survivor What an earlier Runtime left running for it: taken over at once, unless a stop is wanted. */
  constructor(parts: InstallationParts, assignment: Assignment, survivor?: Survivor) {
    this.#parts = parts;
    this.#assignment = assignment;
    this.clients = new Clients({ ...parts, installationId: assignment.installationId });
    const onChange = () => parts.onStatus(assignment.installationId);
    // What an earlier Runtime gave up stays given up, unless what would be started is another thing now.
    this.#shown = new ShownState(parts.clock, onChange, parts.failures.recall(assignment));
    if (survivor !== undefined) this.#takeOver(survivor);
    this.#startIfAlways();
  }

  get assignment(): Assignment {
    return this.#assignment;
  }

  /** Resolves when what the latest assignment revoked has ended. Never rejects. */
  get grantsSettled(): Promise<void> {
    return Promise.all([this.#grantsSettled, this.#clientsSettled]).then(() => undefined);
  }

  status(): InstallationStatus {
    return {
      installationId: this.#assignment.installationId,
      ...this.#shown.now,
      unenforced: [
        ...this.#parts.workload.driver.unenforced(this.#assignment.workload),
        ...unlimitedVolume(this.#parts.workload, this.#assignment),
        ...(this.#workload?.shortfalls() ?? []),
      ],
      ...publicPorts(this.#workload, this.#parts.workload, this.#assignment),
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
    if (!sameGrants(former, assignment)) this.#grantsSettled = this.#takeGrants(assignment);
    if (assignment.paused || assignment.endpointId !== former.endpointId) this.clients.endAll();
    else if (assignment.clientsRevision !== former.clientsRevision) this.#clientsSettled = this.clients.recheck();
    if (assignment.desired !== former.desired) this.#held = false;
    if (assignment.desired === 'stopped') {
      await this.stop();
      return;
    }
    const why = whyRestart(former, assignment);
    if (why !== undefined) {
      const wasUp = this.#isUp();
      if (wasUp) this.#say(why);
      await this.#end();
      this.#crashes.forget();
      if (this.#state === 'failed') this.#set('stopped');
      if (wasUp && !this.#held && this.#state === 'stopped') this.#begin();
    }
    this.#startIfAlways();
  }

  /** Applies the grants of an assignment; ends a workload on which a revocation could not be enforced. */
  async #takeGrants(assignment: Assignment): Promise<void> {
    // A launch under way began with the former grants, and applies the latest ones once it has a workload. One that
    // fails has none, and is reported as a failed start.
    const workload = await (this.#launching?.catch(() => undefined) ?? this.#workload);
    try {
      await workload?.applyGrants(assignment);
    } catch (error) {
      const { installationId } = assignment;
      this.#parts.log.error({ installationId, err: error }, 'a revoked permission could not be taken away');
      this.#say('Stopped, because a revoked permission could not be withdrawn while it ran.');
      await this.#end();
      this.#startIfAlways();
    }
    this.#parts.onStatus(assignment.installationId);
  }

  /** Ends with the Runtime. Keeps the remembered failure and does not change the desired state. */
  async close(): Promise<void> {
    this.#held = true;
    await this.#end();
  }

  /** An explicit start: clears earlier failures and waits until the workload listens, something is wrong, or 15 s have passed. */
  async start(): Promise<void> {
    this.#held = false;
    this.#crashes.forget();
    // Core has changed its mind before it calls; its list with the news may still be on the way.
    if (this.#assignment.desired === 'stopped') {
      this.#assignment = { ...this.#assignment, desired: this.#assignment.workload.mode, paused: false };
    }
    await this.#ending;
    if (this.#run === undefined) {
      this.#cancel();
      this.#shown.countRestarts(0);
      this.#begin();
    }
    await this.#shown.settled(REACH_LIMIT, ({ reason }) => reason !== undefined && this.#isItsFault);
  }

  /** Stops the workload and keeps it down until the next use, or with `always` until the next start. */
  async stop(): Promise<void> {
    this.#held = true;
    await this.#end();
    if (this.#state !== 'stopped' || this.#shown.now.reason !== undefined) this.#set('stopped');
  }

  /** Its app was removed: ends what its Gateway has under way at once, and then stops it. */
  async remove(): Promise<void> {
    this.clients.endAll();
    const { revision } = this.#assignment.gateway;
    await this.update({ ...this.#assignment, gateway: { revision }, desired: 'stopped' });
  }

  /**
   * Stops a workload that writes to the disk of this machine while only the reserve is left there, and lets it go on
   * afterwards. What nothing holds to a size is killed, and everything is once half of the reserve is gone.
   */
  async yieldDisk(level: DiskLevel): Promise<void> {
    if (level === 'room') {
      if (!this.#yielded) return;
      this.#yielded = false;
      if (this.#state === 'stopped' && this.#shown.now.reason === DISK_FULL) this.#set('stopped');
      this.#startIfAlways();
      return;
    }
    if (!writesDisk(this.#assignment) || !this.#isUp()) return;
    this.#yielded = true;
    const isUnlimited = unlimitedVolume(this.#parts.workload, this.#assignment).length > 0;
    if (level === 'critical' || isUnlimited) void this.#workload?.stop(0).catch(() => undefined);
    if (this.#ending !== undefined) return;
    await this.#end();
    if (!this.#held) this.#waitForDisk();
  }

  /** Stops it; it stays stopped until it has {@link rested}. Its installation is among those that rest already. */
  async rest(): Promise<void> {
    await this.#end();
    if (this.#state !== 'failed') this.#set('stopped', BEING_COPIED);
  }

  /** It may run again. */
  rested(): void {
    if (this.#state === 'stopped' && this.#shown.now.reason === BEING_COPIED) this.#set('stopped');
    this.#startIfAlways();
  }

  /** The Gateway of the running workload, if it runs and may be used. */
  get gateway(): RunningGateway | undefined {
    const { paused, desired } = this.#assignment;
    const isUsable = !paused && desired !== 'stopped' && this.#ending === undefined && this.#state === 'running';
    return isUsable ? this.#workload?.gateway : undefined;
  }

  /**
   * The Gateway of the running workload, which is started if needed. Concurrent callers share one start, also those
   * that retry after `workload_unavailable`.
   * @throws RefusalError `runtime_paused`, or `workload_unavailable` when it is stopped, failed, crashed twice in a row, or
   *   not there within 15 s.
   */
  async reach(): Promise<RunningGateway> {
    const { paused, desired } = this.#assignment;
    if (paused)
      throw refuse('runtime_paused', 'All apps of this account are paused. Their owner can resume them in the shell.');
    if (desired === 'stopped') throw unavailable('It was stopped. Its owner can start it in Settings.');
    await this.#ending;
    if (this.#state === 'running' && this.#workload !== undefined) return this.#workload.gateway;
    if (this.#state === 'failed') throw unavailable(this.#shown.now.reason);
    if (this.#state === 'stopped') this.#begin();
    await this.#shown.settled(
      REACH_LIMIT,
      ({ reason }) => reason !== undefined && this.#isItsFault && this.#crashes.isLoop(),
    );
    if (this.#state === 'running' && this.#workload !== undefined) return this.#workload.gateway;
    const { state, reason } = this.#shown.now;
    throw state === 'starting' && reason === undefined
      ? stillStarting()
      : unavailable(reason ?? 'It was stopped before it had started.');
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

  #waitForDisk(): void {
    this.#yielded = true;
    if (this.#state !== 'stopped' || this.#shown.now.reason !== DISK_FULL) this.#set('stopped', DISK_FULL);
  }

  #begin(survivor?: Survivor): void {
    if (this.#parts.resting.has(this.#assignment.installationId)) {
      if (this.#state !== 'stopped' || this.#shown.now.reason !== BEING_COPIED) this.#set('stopped', BEING_COPIED);
      return;
    }
    if (writesDisk(this.#assignment) && this.#parts.disk.level() !== 'room' && survivor === undefined) {
      this.#waitForDisk();
      return;
    }
    this.#abort = new AbortController();
    this.#set('starting');
    const run = this.#live(this.#abort.signal, survivor).finally(() => {
      if (this.#run === run) this.#run = undefined;
    });
    this.#run = run;
  }

  async #live(abort: AbortSignal, survivor?: Survivor): Promise<void> {
    const outcome = await attempt({
      clock: this.#parts.clock,
      port: this.#assignment.workload.port,
      launch: async () => {
        // What still runs has what it needs; and it is not kept waiting for what it does not need.
        if (survivor === undefined)
          await prepareWorkload(this.#parts.workload, { assignment: this.#assignment, abort });
        abort.throwIfAborted();
        const isAwaited = () => this.#shown.isAwaited();
        this.#launching = this.#parts.slots.use(isAwaited, () => this.#launch(abort, survivor));
        return this.#launching;
      },
      onLaunched: (workload) => {
        this.#workload = workload;
        this.#launching = undefined;
      },
      onListening: (workload) => this.#listening(workload),
      onElsewhere: (sentence) => {
        this.#say(sentence);
        this.#isItsFault = true;
        this.#set('starting', sentence);
      },
      abort,
    });
    this.#launching = undefined;
    this.#workload = undefined;
    this.#conclude(outcome);
  }

  async #launch(abort: AbortSignal, survivor?: Survivor): Promise<Workload> {
    const { clock, logs, workload: parts } = this.#parts;
    abort.throwIfAborted();
    const started = await startWorkload(parts, {
      assignment: this.#assignment,
      writer: logs.writer(this.#assignment.installationId),
      now: clock.now,
      onActivity: () => this.#idle?.signal(),
      onPorts: () => this.#parts.onStatus(this.#assignment.installationId),
      abort,
      ...(survivor === undefined ? {} : { survivor }),
    });
    // The capability of the former start ends sooner now.
    void this.clients.refresh();
    return started;
  }

  #listening(workload: Workload): void {
    this.#set('running');
    this.#cancelTimers.push(this.#parts.clock.after(HEALTHY, () => this.#crashes.forget()));
    if (this.#assignment.desired !== 'always') this.#watchIdle(workload);
  }

  #watchIdle(workload: Workload): void {
    const { clock, core, log } = this.#parts;
    const { installationId, workload: manifest } = this.#assignment;
    const idleSeconds = manifest.idleSeconds ?? limits.workloadIdleSeconds.value;
    const watch = new IdleWatch({
      idleMilliseconds: idleSeconds * 1_000,
      clock,
      log,
      isBusy: () => workload.gateway.activeRequests() > 0,
      leasesEndIn: () => core.leasesEndIn(installationId),
      onIdle: () => {
        this.#say(`Stopped after ${idleSeconds} s without use.`);
        void this.#end();
      },
    });
    this.#idle = watch;
    this.#cancelTimers.push(() => watch.end());
  }

  /** Makes a state of how an attempt went; one that was ended on purpose is no crash. */
  #conclude(outcome: Outcome): void {
    if (outcome.kind === 'given up') return;
    this.#cancel();
    if (outcome.kind === 'ended') this.#shown.exited(outcome.reason);
    if (outcome.kind === 'ended' || outcome.kind === 'refused') this.#say(outcome.reason);
    if ('detail' in outcome) {
      const { installationId } = this.#assignment;
      this.#parts.log.error({ installationId, detail: outcome.detail }, 'a workload could not be started');
    }
    if (this.#ending !== undefined) return;
    if (outcome.kind === 'refused') this.#set('failed', outcome.reason);
    else if (outcome.kind === 'not prepared') this.#notPrepared(outcome.reason);
    else if (outcome.kind === 'not launched') this.#crashed(outcome.reason);
    else if (outcome.kind === 'ended' && outcome.code === 0 && this.#assignment.desired !== 'always')
      this.#set('stopped', outcome.reason);
    else {
      this.#crashed(outcome.reason);
      // Its own doing; what only this machine could not do is tried again after a restart, which may have mended it.
      if (this.#state === 'failed') this.#parts.failures.keep(this.#assignment, this.status());
    }
  }

  /** Tries again later, or gives up after too many crashes in a row. */
  #crashed(reason: string): void {
    this.#isItsFault = true;
    const delay = this.#crashes.next();
    if (delay !== undefined) {
      this.#tryAgain(reason, delay);
      return;
    }
    const text = `${reason} Gave up after ${CRASHES_AT_MOST} failed starts.`;
    this.#say(text);
    this.#set('failed', text);
  }

  /** Not for any fault of the workload: it is never given up, but who waits is not kept waiting for ever. */
  #notPrepared(reason: string): void {
    this.#isItsFault = false;
    const delay = this.#crashes.next();
    if (delay !== undefined) this.#tryAgain(reason, delay);
    else if (this.#assignment.desired === 'always') this.#tryAgain(reason, LONGEST_DELAY);
    else {
      this.#crashes.forget();
      this.#set('stopped', reason);
    }
  }

  #tryAgain(reason: string, delay: number): void {
    this.#set('starting', `${reason} Next attempt in ${delay / 1_000} s.`);
    this.#cancelTimers.push(
      this.#parts.clock.after(delay, () => {
        this.#shown.countRestarts(this.#shown.now.restarts + 1);
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
    if (this.#isUp()) this.#set('stopped');
  }

  #cancel(): void {
    for (const cancel of this.#cancelTimers.splice(0)) cancel();
  }

  #say(line: string): void {
    this.#parts.logs.writer(this.#assignment.installationId).append('system', line);
  }

  #set(state: State, reason?: string): void {
    if (this.#state === 'failed') this.#parts.failures.forget(this.#assignment.installationId);
    this.#shown.set(state, reason);
  }

  #isUp(): boolean {
    return this.#state === 'starting' || this.#state === 'running';
  }

  get #state(): State {
    return this.#shown.now.state;
  }
}
