// What the supervisor and a part of the platform say to each other, over the channel that the part inherits: the only way
// by which a part gets its configuration and its secrets, so that none is in its arguments or its environment.

export type ToPart<Order> =
  /** Before the order, with a bound socket: the part listens on it at this place. */
  | { readonly socket: { readonly host: string; readonly port: number } }
  /** Once, first: everything that the part needs to start. */
  | { readonly order: Order }
  /** Answered by `metrics` with the same number. */
  | { readonly ask: number }
  /** Answered by `alive`. */
  | { readonly ping: true }
  /** Reads again what may change while it runs. The part says in its log what came of it. */
  | { readonly reload: true }
  /** Ends what it does, then itself. */
  | { readonly stop: true };

export type FromPart<Report> =
  | { readonly ready: Report }
  /** A `StartError`; the part ends. */
  | { readonly refused: { readonly code: string; readonly message: string } }
  | { readonly metrics: string; readonly ask: number }
  | { readonly alive: true };
