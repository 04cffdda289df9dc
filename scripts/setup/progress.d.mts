// The types of progress.mjs, which stays plain JavaScript for old Node versions.

export class SetupError extends Error {
  constructor(message: string);
}
export function say(line: string): void;
export function step<T>(doing: string, done: string, work: () => Promise<T>): Promise<T>;
