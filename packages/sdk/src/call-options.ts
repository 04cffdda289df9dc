// What a call of a service takes: its limits, and where the service is.

export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason, as `fetch` does. */
  readonly signal?: AbortSignal;
  /** Time limit of the whole call in milliseconds; default 30,000. */
  readonly timeoutMilliseconds?: number;
}

/** Address and credential of a service. */
export interface ServiceAccess {
  /** Origin of the services, without a trailing slash. */
  readonly api: string;
  /** The credential at this moment. */
  readonly token: string;
  /**
   * Gets another credential in place of one that was refused. @returns whether `token` is another one now. Absent where
   * nobody gives one.
   */
  renew?(refused: string): Promise<boolean>;
}
