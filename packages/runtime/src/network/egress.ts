// A way from workloads to the internet, as the process driver uses it. How depends on who runs the platform:
// veth-egress.ts for root, user-egress.ts for an ordinary user.

/** The network namespace of one running workload. */
export interface NetworkPlace {
  /** Plain name, at most 64 characters, of the installation. */
  readonly key: string;
  /** Descriptor in this process that leads to the namespace; stays open until `close` has resolved. */
  readonly descriptor: number;
  /** As root: the user that belongs to this installation alone. */
  readonly uid?: number;
  /** As an ordinary user: where rights over it can be had. */
  readonly launcher?: Launcher;
}

/**
 * A platform process in the network namespace of a workload and in the user namespace that owns it, which lives as long
 * as the workload.
 */
export interface Launcher {
  readonly pid: number;
  /** Whether the number still is that process: what was entered by it before this was true. */
  isAlive(): boolean;
}

/** The way of one running workload; closed at first. Calls must not overlap. */
export interface Egress {
  /** Opens it. @throws Error when this machine cannot; nothing is open then. */
  grant(): Promise<void>;
  /**
   * Closes it: when this resolves, every further packet is refused, those of open connections too.
   * @throws Error when something may still pass.
   */
  revoke(): Promise<void>;
  /** Why nothing passes just now although it is open, in one sentence; it comes back by itself. */
  trouble?(): string | undefined;
  /** Closes it and gives back what it held, after the workload has ended. Never rejects. */
  close(): Promise<void>;
}

export interface EgressWays {
  attach(place: NetworkPlace): Egress;
  /** Takes away everything that was made on this machine. Every egress has been closed before. */
  close(): Promise<void>;
}

/** This machine has no such way. The message is one sentence for a person. */
export class NoEgress extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NoEgress';
  }
}
