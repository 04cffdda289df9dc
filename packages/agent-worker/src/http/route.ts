// What a route of the agent is.
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** Of the path. */
  readonly id: string;
}

/** What is sent; `undefined` where the route has answered itself. */
export interface Answer {
  readonly status: number;
  readonly body?: object;
}

export type Route = (call: Call) => Promise<Answer | undefined>;

/** By path and method. */
export type Routes = readonly {
  readonly path: RegExp;
  readonly methods: Readonly<Record<string, Route>>;
}[];
