// A browser in which an account is signed in from the beginning: for tests of what comes after that.
import type { Browser, BrowserContext } from 'playwright-core';
import type { Target, TestAccount } from '../support/client.ts';

/**
 * Signs the account in, in every page of the context from here on; waits in them take a minute at most. As a sign-in
 * does: the session's cookie, and its id in the storage of the shell.
 */
export async function signInto(context: BrowserContext, platform: Target, account: TestAccount): Promise<void> {
  context.setDefaultTimeout(60_000);
  const [name = '', value = ''] = account.cookie.split('=', 2);
  await context.addCookies([{ name, value, url: platform.origin, httpOnly: true, sameSite: 'Lax' }]);
  const page = await context.newPage();
  // A document of the shell's origin without the shell in it.
  await page.goto(`${platform.origin}/mark.svg`);
  await page.evaluate((id) => localStorage.setItem('platform.session', id), account.sessionId);
  await page.close();
}

export interface SignedIn {
  readonly browser: Browser;
  readonly platform: Target;
  readonly account: TestAccount;
}

/** To be closed by the test. */
export async function signedInContext(
  { browser, platform, account }: SignedIn,
  viewport: { readonly width: number; readonly height: number },
): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport, reducedMotion: 'reduce' });
  await signInto(context, platform, account);
  return context;
}
