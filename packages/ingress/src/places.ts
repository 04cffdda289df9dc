// The places that the requests of one installation take. One client network gets a part of them; and where none is left, a
// client that holds many and is idle on them gives way to one that holds few. So a client that opens connections and lets
// them wait shuts nobody else out.
import type { Refusal } from '@platform/contract';

/** A request or WebSocket that takes a place. */
export interface Occupant {
  /** `clientNetwork` of its client. */
  readonly network: string;
  /** Whether it waits for its client: for the rest of a request, or for an answer to be read. */
  isIdle(): boolean;
  /** Ends it. Its place is free from now on. */
  giveWay(refusal: Refusal): void;
}

/** Of all places: the most that one client network gets. One that holds fewer never has to give way. */
const PART_OF_ONE_CLIENT = 1 / 4;
/** However few places there are. */
const ALWAYS_OF_ONE_CLIENT = 8;
/** A proxy on this machine that is not trusted, behind which are many clients; or this machine itself. */
const LOOPBACK = /^127\.|^0:0:0:0::\/64$/;
/** Occupants that are looked at for one newcomer, the oldest first. */
const MOST_LOOKED_AT = 512;
const RETRY_SECONDS = 1;

const FULL: Refusal = { code: 'concurrency_limited', retryAfter: RETRY_SECONDS };

interface OfInstallation {
  readonly occupants: Set<Occupant>;
  readonly ofNetwork: Map<string, number>;
}

export class Places {
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #taken = new Map<string, OfInstallation>();

  /** @param most of one installation */
  constructor(most: number) {
    this.#most = most;
    this.#mostOfOne = Math.max(ALWAYS_OF_ONE_CLIENT, Math.ceil(most * PART_OF_ONE_CLIENT));
  }

  /** @returns what gives the place back, once; a refusal where there is none */
  take(installationId: string, occupant: Occupant): (() => void) | Refusal {
    const taken = this.#taken.get(installationId) ?? { occupants: new Set(), ofNetwork: new Map() };
    const own = taken.ofNetwork.get(occupant.network) ?? 0;
    if (own >= this.#mostOfOne && !LOOPBACK.test(occupant.network)) return FULL;
    if (taken.occupants.size >= this.#most) {
      const greedy = this.#greedy(taken, occupant.network);
      if (greedy === undefined) return FULL;
      this.#leave(installationId, taken, greedy);
      greedy.giveWay(FULL);
    }
    this.#taken.set(installationId, taken);
    taken.occupants.add(occupant);
    taken.ofNetwork.set(occupant.network, own + 1);
    return () => this.#leave(installationId, taken, occupant);
  }

  /** The oldest one that has to give way to a client of this network. */
  #greedy({ occupants, ofNetwork }: OfInstallation, network: string): Occupant | undefined {
    const own = ofNetwork.get(network) ?? 0;
    let looked = 0;
    for (const occupant of occupants) {
      const held = ofNetwork.get(occupant.network) ?? 0;
      if (held >= this.#most * PART_OF_ONE_CLIENT && own < held / 2 && occupant.isIdle()) return occupant;
      looked += 1;
      if (looked === MOST_LOOKED_AT) return undefined;
    }
    return undefined;
  }

  #leave(installationId: string, taken: OfInstallation, occupant: Occupant): void {
    if (!taken.occupants.delete(occupant)) return;
    const left = (taken.ofNetwork.get(occupant.network) ?? 1) - 1;
    if (left === 0) taken.ofNetwork.delete(occupant.network);
    else taken.ofNetwork.set(occupant.network, left);
    if (taken.occupants.size === 0) this.#taken.delete(installationId);
  }
}
