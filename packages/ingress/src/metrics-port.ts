// What the Ingress counts, without the library that collects it.

/** What an Ingress knows at a moment. */
export interface IngressState {
  readonly publicNames: number;
  readonly nodes: number;
  /** Whether it still goes by what it knows. */
  readonly isCurrent: boolean;
  /** `null` where it has none, and speaks plain HTTP. */
  readonly certificates: CertificateState | null;
}

export interface CertificateState {
  /** In service. */
  readonly served: number;
  /** That an operator should look at. */
  readonly problems: number;
  /** Seconds until the first of those in service expires; `null` for none. */
  readonly expiresIn: number | null;
  /** Handshakes of clients that came to nothing since the start. */
  readonly failedHandshakes: number;
}

export interface IngressMetrics {
  /** Begins to read what the Ingress knows. Called once. */
  watch(ingress: { state(): IngressState }): void;
  /** An answer of a node, or a WebSocket. @param status of its head */
  answered(status: number, seconds: number, bytes: number): void;
  /** By error code. */
  refused(code: string): void;
  /** A node did not take a request, or failed to answer it. */
  nodeFailed(): void;
  requestBegan(): void;
  requestEnded(): void;
  webSocketOpened(): void;
  webSocketClosed(): void;
  logLineDropped(): void;
}

const nothing = (): void => undefined;

export const noMetrics: IngressMetrics = {
  watch: nothing,
  answered: nothing,
  refused: nothing,
  nodeFailed: nothing,
  requestBegan: nothing,
  requestEnded: nothing,
  webSocketOpened: nothing,
  webSocketClosed: nothing,
  logLineDropped: nothing,
};
