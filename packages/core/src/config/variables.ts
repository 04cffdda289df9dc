// Reads single variables: the kinds of values, and the error for each wrong one. The settings themselves are in the
// files named …-settings.ts, one per subject; env.ts combines them.
import { isIP } from 'node:net';
import * as path from 'node:path';
import { type ConfigurationVariable, configurationVariables } from '@platform/contract';
import { StartError } from './start-error.ts';

/** The value of a variable without blanks around it; `undefined` when it is not set or empty. */
export type Read = (name: ConfigurationVariable) => string | undefined;

export interface AddressAndPort {
  readonly host: string;
  readonly port: number;
}

/** The refusal of a value: what is wrong with it, and what to do, without a full stop. */
export function wrong(name: string, what: string, cure: string): StartError {
  return new StartError('wrong_variable', `${name} ${what}; ${cure}.`);
}

/** The value, or the documented default. */
export function textOf(read: Read, name: ConfigurationVariable): string {
  return read(name) ?? configurationVariables[name].default;
}

export function integerOf(read: Read, name: ConfigurationVariable, least: number, most: number): number {
  const value = textOf(read, name);
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < least || number > most)
    throw wrong(name, `is "${value}"`, `set a whole number from ${least} to ${most}`);
  return number;
}

export function patternOf(read: Read, name: ConfigurationVariable, pattern: RegExp, rule: string): string {
  const text = textOf(read, name);
  if (!pattern.test(text)) throw wrong(name, `is "${text}"`, `use ${rule}`);
  return text;
}

/** One of some words; `null` without a value. */
export function optionalChoiceOf<Choice extends string>(
  read: Read,
  name: ConfigurationVariable,
  choices: readonly [Choice, ...Choice[]],
): Choice | null {
  return read(name) === undefined ? null : choiceOf(read, name, choices);
}

/** One of some words; without a value the first. */
export function choiceOf<Choice extends string>(
  read: Read,
  name: ConfigurationVariable,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  const value = read(name);
  if (value === undefined) return choices[0];
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw wrong(name, `is "${value}"`, `use one of ${[...choices].sort().join(', ')}`);
  return found;
}

/** An absolute path, without `.` and `..`. */
export function absolutePath(name: ConfigurationVariable, value: string): string {
  if (!path.isAbsolute(value)) throw wrong(name, `is "${value}"`, 'set an absolute path');
  return path.normalize(value);
}

export function optionalPathOf(read: Read, name: ConfigurationVariable): string | null {
  const value = read(name);
  return value === undefined ? null : absolutePath(name, value);
}

export function addressAndPortOf(read: Read, name: ConfigurationVariable): AddressAndPort | null {
  const value = read(name);
  if (value === undefined) return null;
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+)):(\d{1,5})$/.exec(value) ?? [];
  const host = bracketed ?? plain ?? '';
  const port = Number(digits);
  if (isIP(host) === 0 || !(port >= 1 && port <= 65_535))
    throw wrong(name, `is "${value}"`, 'set an IP address and a port, such as 10.0.0.1:8789 or [fd00::1]:8789');
  return { host, port };
}

/** The parts between commas, without blanks around them and empty ones. */
export function listed(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Exact https origins between commas. */
export function originsOf(read: Read, name: ConfigurationVariable, example: string): string[] {
  return listed(read(name) ?? '').map((part) => {
    const origin = URL.canParse(part) ? new URL(part) : null;
    if (origin?.protocol !== 'https:' || origin.origin !== part.toLowerCase() || part.includes('*'))
      throw wrong(name, `holds "${part}"`, `list https origins, scheme, host and port only, like ${example}`);
    return origin.origin;
  });
}

/** @param host of a URL */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(?:\.\d+){3}$/.test(host);
}
