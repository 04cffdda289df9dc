// Core's way to the Runtime that runs an installation: start, stop, ask, and end it, through the node's control side.
import {
  type InstallationDetail,
  type InstallationId,
  installationDetail,
  KiB,
  limits,
  type NodeLogPiece,
  type NodeLogs,
  nodeLogPiece,
  nodeLogs,
  nodeRefusal,
  nodeVolumeUse,
  RefusalError,
  refuse,
} from '@platform/contract';
import { fetchOverLink, type Pace } from '@platform/link';
import type * as z from 'zod';
import type { CoreContext } from '../context.ts';
import { isWaiting, placeAtFirstUse, unusedInstallation } from '../placement/face.ts';
import { readBounded, readLines } from './bounded-body.ts';
import { ControlSide } from './control-side.ts';
import { type Holding, Intake } from './intake.ts';
import { boundToLost } from './lose-node.ts';
import { addressOfNode, type ControlAddress, controlAddress, holderAddress } from './node-queries.ts';
import { type ReadVolume, readVolumeEntries } from './read-volume.ts';
import { Silence } from './silence.ts';

interface ControlCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below `/installations/<id>`, e.g. `/start`. */
  readonly path: string;
  /** From the request to the last byte of the answer. */
  readonly timeoutMilliseconds: number;
  /** Of the answer. Default: as long as a status may be. */
  readonly longestBytes?: number;
}

/** A read of an answer that is counted, and ends when there is no room for it. */
interface Reading {
  readonly holding: Holding;
  /** Of the caller, the end of core and the want of room together. */
  readonly over: AbortSignal;
  readonly pace: Pace;
}

/** A start answers when the workload does, or when the node gives up waiting for it. */
const START_MILLISECONDS = (limits.workloadStartSeconds.value + 5) * 1_000;
const STOP_MILLISECONDS = 15_000;
const ASK_MILLISECONDS = 5_000;
/** A number that a page shows when it comes. */
const MEASURE_MILLISECONDS = 3_000;
/** A node sends an empty line every 15 s; after this much silence it is gone. */
const SILENCE_MILLISECONDS = 45_000;
/** Of a node that knows the question and has none; another version of it says 404. */
const NO_VOLUME = 204;
/** All entries of volumes that are read at the same time, as if they came from one node. */
const ALL_VOLUMES = 'entries of volumes';
/** Until a node has ended what it gives up, killing it if need be. */
const RELEASE_MILLISECONDS = 12_000;
/** The longest that core waits for the end of a removed app. */
const FORGET_MILLISECONDS = 2_000;
/** All that a node says of one backend, each character at its longest. */
const LONGEST_STATUS_BYTES = 256 * KiB;
/** What a line of a log stream counts, besides its bytes, as read from its node: it is parsed and passed on by itself. */
const COST_OF_LINE = 4 * KiB;

/**
 * Every method throws RefusalError `workload_unavailable` when the node cannot be reached, does not know the
 * installation, or gives an answer that is none.
 */
export class Nodes {
  readonly #context: CoreContext;
  readonly #controlSide: ControlSide;
  readonly #intake: Intake;

  /**
   * @param localNodeId the node on this very machine, whose loopback addresses mean something here
   * @param intake what this process holds of answers of nodes. Default: one of its own
   */
  constructor(context: CoreContext, localNodeId: () => string | null, intake = new Intake()) {
    this.#context = context;
    this.#controlSide = new ControlSide(context, localNodeId);
    this.#intake = intake;
  }

  /** Starts the workload if it does not run, and waits until it answers or failed. */
  async start(id: InstallationId): Promise<InstallationDetail> {
    await placeAtFirstUse(this.#context, id);
    return this.#status(id, { method: 'POST', path: '/start', timeoutMilliseconds: START_MILLISECONDS });
  }

  async stop(id: InstallationId): Promise<InstallationDetail> {
    if (await this.#isUnused(id)) return this.#unused(id);
    return this.#status(id, { method: 'POST', path: '/stop', timeoutMilliseconds: STOP_MILLISECONDS });
  }

  /** Of what lies on a lost node, core itself says why it does not run. */
  async status(id: InstallationId): Promise<InstallationDetail> {
    if (await this.#isUnused(id)) return this.#unused(id);
    const { name, lost_at: lostAt } = await this.#address(id);
    if (lostAt !== null) return boundStatus(id, name, lostAt);
    return this.#status(id, { method: 'GET', path: '/status', timeoutMilliseconds: ASK_MILLISECONDS });
  }

  /** The newest lines first; `before` of an answer leads to older ones. */
  async logs(
    id: InstallationId,
    page: { readonly limit: number; readonly before: string | undefined },
  ): Promise<NodeLogs> {
    if (await this.#isUnused(id)) return { items: [], before: null };
    const query = new URLSearchParams({ limit: String(page.limit) });
    if (page.before !== undefined) query.set('before', page.before);
    const call = {
      method: 'GET',
      path: `/logs?${query}`,
      timeoutMilliseconds: ASK_MILLISECONDS,
      longestBytes: limits.nodeAnswer.value,
    } as const;
    return this.#parse(id, nodeLogs, await this.#call(id, call));
  }

  /**
   * Follows the log until `signal` is aborted or the node ends the stream; resolves when the node has begun to answer.
   * Nothing is read ahead of the consumer, so a slow reader applies backpressure to the node instead of filling memory.
   */
  async followLogs(
    id: InstallationId,
    start: { readonly after: number } | { readonly newest: number },
    signal: AbortSignal,
  ): Promise<AsyncGenerator<NodeLogPiece, void, undefined>> {
    const query = 'after' in start ? `after=${start.after}` : `newest=${start.newest}`;
    const address = await this.#address(id);
    const silence = new Silence(SILENCE_MILLISECONDS);
    const reading = this.#begin(id, address, AbortSignal.any([signal, silence.over]));
    // Also if nobody ever asks for its first piece.
    reading.over.addEventListener('abort', () => {
      silence.end();
      reading.holding.end();
    });
    try {
      silence.listen();
      const response = await this.#fetch(id, address, { method: 'GET', path: `/logs/stream?${query}` }, reading);
      if (response.status === 200) return this.#pieces(id, response, { ...reading, silence, left: signal });
      throw this.#unavailable(id, `it answered ${response.status}`);
    } catch (error) {
      silence.end();
      reading.holding.end();
      throw error;
    }
  }

  async *#pieces(
    id: InstallationId,
    { body }: Response,
    {
      holding,
      over,
      pace,
      silence,
      left,
    }: Reading & {
      readonly silence: Silence;
      /** By the caller. */
      readonly left: AbortSignal;
    },
  ): AsyncGenerator<NodeLogPiece, void, undefined> {
    try {
      const bounds = { limit: limits.nodeAnswer.value, holding };
      for await (const line of readLines(body, bounds, () => silence.listen())) {
        // However slow the consumer is, the node is not silent meanwhile.
        silence.rest();
        await pace(COST_OF_LINE);
        over.throwIfAborted();
        yield this.#parse(id, nodeLogPiece, line);
      }
    } catch (error) {
      if (left.aborted || this.#context.stopping.aborted) return;
      throw error instanceof RefusalError ? error : this.#unavailable(id, 'its log stream broke', error);
    } finally {
      silence.end();
      holding.end();
    }
  }

  /** Bytes that its volume holds, `null` where its node cannot tell. */
  async volumeUse(id: InstallationId): Promise<number | null> {
    const call = { method: 'GET', path: '/volume/use', timeoutMilliseconds: MEASURE_MILLISECONDS } as const;
    return this.#parse(id, nodeVolumeUse, await this.#call(id, call)).bytes;
  }

  /**
   * What the volume holds, also that of a removed app. Its backend rests until `signal` is aborted or all was read. Nothing
   * is read ahead of the consumer.
   *
   * @returns null where none was made yet
   */
  async readVolume(id: InstallationId, signal: AbortSignal): Promise<ReadVolume | null> {
    const address = await this.#address(id);
    const silence = new Silence(SILENCE_MILLISECONDS);
    const reading = this.#begin(id, address, AbortSignal.any([signal, silence.over]));
    reading.over.addEventListener('abort', () => {
      silence.end();
      reading.holding.end();
    });
    try {
      silence.listen();
      const call = { method: 'GET', path: '/volume/content' } as const;
      const response = await this.#fetch(id, address, call, reading);
      if (response.status === 200 && response.body !== null) {
        const paces = [reading.pace, this.#intake.pace(ALL_VOLUMES)];
        return readVolumeEntries(response.body, { silence, paces });
      }
      if (response.status === NO_VOLUME) {
        silence.end();
        return null;
      }
      const bounds = { limit: LONGEST_STATUS_BYTES, holding: reading.holding };
      throw this.#refused(id, { status: response.status, text: await readBounded(response.body, bounds) });
    } catch (error) {
      silence.end();
      throw error instanceof RefusalError ? error : this.#unavailable(id, 'its volume could not be read', error);
    }
  }

  /** Ends the workload and whatever the node remembers of it; its volume stays. */
  async forget(id: InstallationId): Promise<void> {
    await this.#call(id, { method: 'DELETE', path: '', timeoutMilliseconds: FORGET_MILLISECONDS });
  }

  /** Deletes the volume of a removed app; the node refuses while the app is installed there. */
  async deleteVolume(id: InstallationId): Promise<void> {
    await this.#call(id, { method: 'DELETE', path: '/volume', timeoutMilliseconds: RELEASE_MILLISECONDS });
  }

  /** Deletes the volume of an installation that core no longer knows. @param nodeId a node that reaches the volume */
  async deleteAbandonedVolume(id: InstallationId, nodeId: string): Promise<void> {
    const address = await addressOfNode(this.#context.database, nodeId);
    if (address === undefined) throw this.#unavailable(id, 'its node was removed');
    await this.#text(id, address, { method: 'DELETE', path: '/volume', timeoutMilliseconds: RELEASE_MILLISECONDS });
  }

  /** Waits until the node that held an installation has ended it. */
  async release(id: InstallationId): Promise<void> {
    const holder = await holderAddress(this.#context.database, id);
    if (holder === undefined) return;
    await this.#text(id, holder, { method: 'DELETE', path: '', timeoutMilliseconds: RELEASE_MILLISECONDS });
  }

  async #status(id: InstallationId, call: ControlCall): Promise<InstallationDetail> {
    const status = this.#parse(id, installationDetail, await this.#call(id, call));
    if (status.installationId !== id) throw this.#unavailable(id, 'it answered for another installation');
    return status;
  }

  async #call(id: InstallationId, call: ControlCall): Promise<string> {
    return this.#text(id, await this.#address(id), call);
  }

  /** The text of a successful answer. */
  async #text(id: InstallationId, address: ControlAddress, call: ControlCall): Promise<string> {
    const reading = this.#begin(id, address, AbortSignal.timeout(call.timeoutMilliseconds));
    try {
      const { status, body } = await this.#fetch(id, address, call, reading);
      const bounds = { limit: call.longestBytes ?? LONGEST_STATUS_BYTES, holding: reading.holding };
      const text = await readBounded(body, bounds).catch((error: unknown) => {
        throw this.#unavailable(id, 'its answer broke', error);
      });
      return this.#success(id, { status, text });
    } finally {
      reading.holding.end();
    }
  }

  #success(id: InstallationId, answer: { readonly status: number; readonly text: string }): string {
    if (answer.status >= 200 && answer.status < 300) return answer.text;
    throw this.#refused(id, answer);
  }

  #refused(id: InstallationId, answer: { readonly status: number; readonly text: string }): Error {
    const detail = refusalDetail(parseJson(answer.text));
    if (detail !== null) return refuse('workload_unavailable', detail);
    return this.#unavailable(id, `it answered ${answer.status}`);
  }

  /** Counts what is read of this node from now on. */
  #begin(id: InstallationId, { node_id: nodeId }: ControlAddress, signal: AbortSignal): Reading {
    const crowded = new AbortController();
    try {
      const holding = this.#intake.begin(nodeId, (error) => crowded.abort(error));
      const over = AbortSignal.any([this.#context.stopping, signal, crowded.signal]);
      return { holding, over, pace: this.#intake.pace(nodeId) };
    } catch (error) {
      throw this.#unavailable(id, 'it has too much under way', error);
    }
  }

  async #fetch(
    id: InstallationId,
    address: ControlAddress,
    { method, path }: Pick<ControlCall, 'method' | 'path'>,
    { over: signal, pace }: Pick<Reading, 'over' | 'pace'>,
  ): Promise<Response> {
    const { origin, base, credential, link } = await this.#controlSide.target(id, address);
    const whole = `${base}/installations/${id}${path}`;
    const headers = { authorization: `Bearer ${credential}` };
    try {
      return await fetchOverLink({ address: origin, path: whole }, { ...link, method, headers, signal, pace });
    } catch (error) {
      throw this.#unavailable(id, 'it could not be reached', error);
    }
  }

  /** No node has heard of it. */
  async #isUnused(id: InstallationId): Promise<boolean> {
    return (await unusedInstallation(this.#context.database, id)) !== undefined;
  }

  #unused(installationId: InstallationId): InstallationDetail {
    const since = this.#context.clock().toISOString();
    return { installationId, state: 'stopped', since, restarts: 0, lastExit: null, unenforced: [], usage: null };
  }

  async #address(id: InstallationId): Promise<ControlAddress> {
    const address = await controlAddress(this.#context.database, id);
    if (address !== undefined) return address;
    if (await isWaiting(this.#context.database, id))
      throw refuse('workload_unavailable', 'No machine has room for the backend of this app yet.', { retryAfter: 30 });
    if (await this.#isUnused(id)) throw refuse('workload_unavailable', 'The backend of this app was not used yet.');
    throw this.#unavailable(id, 'it is on no node');
  }

  #parse<Shape extends z.ZodType>(id: InstallationId, shape: Shape, text: string): z.output<Shape> {
    const result = shape.safeParse(parseJson(text));
    if (!result.success) throw this.#unavailable(id, 'its answer does not have the agreed form');
    return result.data;
  }

  #unavailable(installationId: InstallationId, why: string, cause?: unknown): Error {
    return this.#controlSide.unavailable(installationId, why, cause);
  }
}

function boundStatus(installationId: InstallationId, nodeName: string, lostAt: Date): InstallationDetail {
  return {
    installationId,
    state: 'failed',
    since: lostAt.toISOString(),
    reason: boundToLost(nodeName),
    restarts: 0,
    lastExit: null,
    unenforced: [],
    usage: null,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is nothing that any of our shapes accepts.
    return undefined;
  }
}

/** Why the node cannot run the workload, in the words of its problem document; `null` for any other failure. */
function refusalDetail(answer: unknown): string | null {
  const refusal = nodeRefusal.safeParse(answer);
  return refusal.data?.code === 'workload_unavailable' ? (refusal.data.detail ?? null) : null;
}
