// A tool as the agent offers it to its model.

/** What came of a call. */
export interface Outcome {
  /** Foreign. */
  readonly text: string;
  readonly isError: boolean;
  /** What the tool asks of the person before it does anything. */
  readonly proposal?: Proposal;
  /** An app that was made, which the person has not accepted yet. */
  readonly draft?: Draft;
}

/** Nobody knows whether the call took effect: the turn ended, or what it went through failed, before it came to a result. */
export class OutcomeUnknown extends Error {
  constructor(cause: unknown) {
    super('The call came to no result.', { cause });
    this.name = 'OutcomeUnknown';
  }
}

export interface Proposal {
  readonly id: string;
  readonly state: string;
  readonly tool: string;
  readonly expiresAt: string;
}

export interface Draft {
  readonly id: string;
  readonly appId?: string;
  readonly version?: string;
}

export interface CallContext {
  readonly session: string;
  readonly signal: AbortSignal | undefined;
  /** The platform may be asking the person now. */
  onConsent(query: string): void;
}

export interface OfferedTool {
  /** For the model. */
  readonly name: string;
  /** Of the hub. */
  readonly tool: string;
  readonly description: string;
  /** JSON Schema. */
  readonly inputSchema: object;
  /** Every call is a proposal to the person. */
  readonly asks: boolean;
  /**
   * @throws OutcomeUnknown
   * @throws Error when the call was refused; its message is for the model and the person
   */
  call(args: Readonly<Record<string, unknown>>, context: CallContext): Promise<Outcome>;
}
