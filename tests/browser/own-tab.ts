// Pages of apps in tabs of their own, which core leads to the shell where the browser says that it is one.
import type { Page } from 'playwright-core';
import { rawRequest } from '../support/raw-http.ts';

/** Opens a page of an app host as a browser does that says nothing of where it shows it. What comes next is as ever. */
export async function openInOwnTab(tab: Page, address: string): Promise<void> {
  const { origin, host, port, pathname } = new URL(address);
  const page = `${origin}${pathname}`;
  await tab.route(page, async (route) => {
    const { status, headers, text } = await rawRequest({ port: Number(port), path: pathname, headers: { host } });
    const fields = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    await route.fulfill({ status, headers: fields, body: text });
  });
  await tab.goto(address);
  await tab.unroute(page);
}
