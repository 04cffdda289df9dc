// `./platform login`, `logout` and `whoami`: this user at another platform (docs/decisions/cli-login.md).
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  type AuthorRequestAnswer,
  type AuthorTokenAnswer,
  authorRequestAnswer,
  authorSelf,
  authorTokenAnswer,
  machineName,
  RefusalError,
} from '@platform/contract';
import { StartError } from '@platform/core/start';
import type * as z from 'zod';
import { type Command, UsageError, understood } from '../command.ts';
import { inWords } from '../local/local-core.ts';
import { paint, say } from '../terminal/terminal.ts';
import { originOf } from './address.ts';
import { localPlatform, usualOf } from './choose-platform.ts';
import { forgetLogin, keepLogin, type Login, loginsFile, readLogins } from './logins.ts';
import { RemotePlatform } from './remote-platform.ts';

export const loginCommand: Command = {
  summary: 'sign in to a platform on another machine',
  usage: `Usage: ./platform login <address> [--name <this machine>]

Shows a code, which you enter in the shell of that platform. Then publish, dev and logs work there in your name, for 90
days; Settings → Command line shows the login and ends it. It is kept in ${loginsFile()}.`,
  async run(args) {
    const { values, positionals } = understood(() =>
      parseArgs({ args: [...args], allowPositionals: true, options: { name: { type: 'string' } } }),
    );
    const [address, ...rest] = positionals;
    if (address === undefined || rest.length > 0)
      throw new UsageError('Name one platform: ./platform login https://cloud.example.org');
    const origin = originOf(address);
    // Before anybody enters a code: what would be kept here must be kept well.
    readLogins();
    const remote = new RemotePlatform(origin, null);
    const begun = await begin(remote, values.name ?? hostname());
    const minutes = Math.round((Date.parse(begun.expiresAt) - Date.now()) / 60_000);
    say(`Open ${paint('cyan', begun.page)}`);
    say(`and enter the code  ${paint('bold', begun.code)}`);
    say(paint('dim', `It is valid for ${minutes} minutes. Waiting …`));
    const { token, account, expiresAt } = await collect(remote, begun);
    keepLogin({ origin, token, account, expiresAt });
    say(`${paint('green', '✓')} Signed in to ${origin} as ${account}, until ${expiresAt.slice(0, 10)}.`);
    return 0;
  },
};

async function begin(remote: RemotePlatform, name: string): Promise<AuthorRequestAnswer> {
  const named = machineName.safeParse(name.slice(0, 60));
  const machine = named.success ? named.data : 'a computer';
  const begun = await answerOf(remote, authorRequestAnswer, '/v1/author/requests', { machine });
  // A page elsewhere would be one that the person does not know.
  if (begun === null || URL.parse(begun.page)?.origin !== remote.origin)
    throw new StartError(
      'not_a_platform',
      `${remote.origin} is not the address of the platform's shell. Use the one that you open in the browser.`,
    );
  return begun;
}

const SHORTEST_POLL_MS = 1_000;

async function collect(remote: RemotePlatform, begun: AuthorRequestAnswer): Promise<AuthorTokenAnswer> {
  const { requestToken } = begun;
  for (;;) {
    await delay(Math.max(SHORTEST_POLL_MS, begun.pollSeconds * 1_000));
    try {
      const collected = await answerOf(remote, authorTokenAnswer, '/v1/author/requests/collect', { requestToken });
      if (collected !== null) return collected;
    } catch (error) {
      if (!(error instanceof RefusalError)) throw error;
      const { code } = error.refusal;
      if (code === 'author_request_denied') throw new StartError(code, 'The sign-in was denied in the shell.');
      if (code === 'author_request_ended')
        throw new StartError(code, 'The code expired before you entered it. Run ./platform login again for a new one.');
      // It is being restarted, or asks for patience.
      if (code !== 'unavailable' && code !== 'rate_limited') throw inWords(error);
    }
    if (Date.now() > Date.parse(begun.expiresAt) + 60_000)
      throw new StartError('login_timeout', `${remote.origin} did not answer in time. Run ./platform login again.`);
  }
}

/** @returns `null` for an answer without a body */
async function answerOf<Schema extends z.ZodType>(
  remote: RemotePlatform,
  schema: Schema,
  path: string,
  json: unknown,
): Promise<z.output<Schema> | null> {
  const { status, body } = await remote.call({ method: 'POST', path, json });
  if (status === 204) return null;
  return remote.read(schema, body);
}

export const logoutCommand: Command = {
  summary: 'sign out of a platform on another machine',
  usage: `Usage: ./platform logout [address]

Ends the login there and forgets it here. Without an address, the only one.`,
  async run(args) {
    const { positionals } = understood(() => parseArgs({ args: [...args], allowPositionals: true }));
    const login = oneLogin(positionals);
    const remote = new RemotePlatform(login.origin, login.token);
    const ended = await remote.call({ method: 'POST', path: '/v1/author/logout', json: {} }).then(
      () => true,
      // It had ended already.
      (error: unknown) => error instanceof StartError && error.code === 'login_ended',
    );
    forgetLogin(login.origin);
    if (ended) say(`${paint('green', '✓')} Signed out of ${login.origin}.`);
    else say(`Forgotten here, but ${login.origin} did not answer. End the login there too: Settings → Command line.`);
    return ended ? 0 : 1;
  },
};

function oneLogin([address, ...rest]: readonly string[]): Login {
  if (rest.length > 0) throw new UsageError('Name one platform: ./platform logout <address>');
  const logins = readLogins();
  const origin = address === undefined ? undefined : originOf(address);
  const [login, other] = logins.filter((one) => origin === undefined || one.origin === origin);
  if (login === undefined)
    throw new StartError(
      'not_signed_in',
      `You are not signed in${origin === undefined ? ' anywhere' : ` to ${origin}`}.`,
    );
  if (other !== undefined)
    throw new UsageError('You are signed in to several platforms. Name one: ./platform logout <address>');
  return login;
}

export const whoamiCommand: Command = {
  summary: 'list the platforms that commands can be for',
  usage: `Usage: ./platform whoami

Lists the platform on this machine and those that ./platform login knows, and asks each of these whether the login still
holds. The mark * is on the one that dev, publish and logs are for without --on: the one that runs on this machine,
otherwise the one that you signed in to last.`,
  async run(args) {
    understood(() => parseArgs({ args: [...args] }));
    const logins = readLogins();
    const local = localPlatform();
    const usual = usualOf(local, logins);
    const mark = (isUsual: boolean) => (isUsual && logins.length > 0 ? paint('green', '* ') : '');
    if (logins.length === 0) say('You are not signed in to any platform. Run: ./platform login <address>');
    if (local.state !== 'none')
      say(
        `${mark(usual === null)}${local.origin}  on this machine, ${local.state === 'runs' ? 'running' : 'not running'}`,
      );
    let code = 0;
    for (const login of logins) {
      const { origin, token } = login;
      const line = await describe(new RemotePlatform(origin, token)).catch((error: unknown) => {
        if (!(error instanceof RefusalError || error instanceof StartError)) throw error;
        code = 1;
        return error instanceof RefusalError ? inWords(error).message : error.message;
      });
      say(`${mark(login === usual)}${origin}  ${line}`);
    }
    if (logins.length > 0) say(paint('dim', '* what dev, publish and logs are for without --on <address>'));
    return code;
  },
};

async function describe(remote: RemotePlatform): Promise<string> {
  const { body } = await remote.call({ method: 'GET', path: '/v1/author' });
  const self = authorSelf.safeParse(body);
  if (!self.success) return 'does not answer like a platform of this version';
  const { account, machine, expiresAt } = self.data;
  return `${account}, from ${machine}, until ${expiresAt.slice(0, 10)}`;
}
