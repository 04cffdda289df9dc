// What the measured server says of itself in one line.

export const APP = 'notes-app';
/** Callers at a time, each with an account of its own; one account more replaces its index. */
export const CALLERS = 16;

export interface SearchAccount {
  readonly cookie: string;
  /** Core service credential of its app. */
  readonly credential: string;
  readonly installationId: string;
}

export interface SearchServer {
  readonly port: number;
  readonly host: string;
  readonly databaseUrl: string;
  readonly accounts: readonly SearchAccount[];
}
