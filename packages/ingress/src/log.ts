// The operator's log, as pino writes it. Nothing secret goes into it.

type Write = (fields: object, message: string) => void;

export interface Log {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}
