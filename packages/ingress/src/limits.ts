// What strangers may take of an Ingress (contract 4e); each is a variable of the operator.

export interface IngressLimits {
  /** Requests per second of one client network to one installation, in the long run. */
  readonly rate: number;
  /** Of them at once. */
  readonly burst: number;
  /** Requests and WebSockets of one installation that may be under way. */
  readonly concurrency: number;
  /** Bytes of a request's body. */
  readonly bodyBytes: number;
  /** Bytes of a request's head. */
  readonly headBytes: number;
}

export const defaultLimits: IngressLimits = {
  rate: 10,
  burst: 50,
  concurrency: 200,
  bodyBytes: 10 * 1024 * 1024,
  headBytes: 32 * 1024,
};

/** To a complete head. */
export const HEAD_MILLISECONDS = 30_000;
/** From a request that was sent to the head of its answer. */
export const ANSWER_MILLISECONDS = 60_000;
/** Until a node has taken a request; one that does not is not there. */
export const REACH_MILLISECONDS = 1_800;
/** For the topology to say why a node does not know a name: it is closed, or its app has moved. */
export const SETTLE_MILLISECONDS = 1_000;
