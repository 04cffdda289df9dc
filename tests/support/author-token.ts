// The token of a command line, through the real routes: begun by a machine, approved by the account, collected.
import type { AuthorRequestAnswer, AuthorTokenAnswer } from '@platform/contract';
import { confirm, type Target, type TestAccount, TestBrowser } from './client.ts';

/** A command line: no cookies, no Origin. */
export function commandLine(target: Target): TestBrowser {
  return new TestBrowser(target);
}

/** What the shell does when its person allows it, with the passkey. */
export async function allowCommandLine(account: TestAccount, code: string): Promise<void> {
  const confirmation = await confirm(account, 'author.allow');
  await account.browser.take('/v1/author/requests/decide', { body: { code, allow: true, confirmation } });
}

const noOrigin = { origin: undefined };

export async function authorToken(account: TestAccount, machine = 'a laptop'): Promise<AuthorTokenAnswer> {
  const machineSide = commandLine(account.browser.target);
  const begun = await machineSide.take<AuthorRequestAnswer>('/v1/author/requests', {
    body: { machine },
    headers: noOrigin,
  });
  await allowCommandLine(account, begun.code);
  const { requestToken } = begun;
  return machineSide.take('/v1/author/requests/collect', { body: { requestToken }, headers: noOrigin });
}
