// An app whose page publishes notifications, installed for one account, and the desk of that account in a browser.
import type { LaunchDescriptor, Notification, PublishNotification } from '@platform/contract';
import type { BrowserContext, Page } from 'playwright-core';
import { type Target, type TestAccount, TestBrowser } from '../support/client.ts';
import { publishTestApp } from '../support/publish.ts';
import { tileOf } from './browser.ts';

const PAGE = '<!doctype html><html lang="en"><title>Gazette</title><main><h1>Gazette</h1></main></html>';

/** Topic `news` and title “News” where nothing else is said. */
export type Publish = (body: Partial<PublishNotification>) => Promise<Notification>;

/** Publishes as the app's own page does. */
export async function installGazette(platform: Target, account: TestAccount): Promise<Publish> {
  const permissions = [{ id: 'notifications.publish', resources: ['*'] }];
  await publishTestApp(account, 'gazette', { permissions }, { 'frontend/index.html': PAGE });
  await account.browser.take('/v1/apps', { body: { appId: 'gazette' } });
  const { origin, frontendCapability } = await account.browser.take<LaunchDescriptor>('/v1/apps/gazette/launch', {
    method: 'POST',
  });
  const frontend = new TestBrowser(platform);
  const { capability } = await frontend.take<{ capability: string }>('/v1/frontend/exchange', {
    body: { capability: frontendCapability },
    headers: { origin },
  });
  const headers = { origin, authorization: `Bearer ${capability}` };
  return async (body) => {
    const sent = { topic: 'news', title: 'News', ...body };
    const { notification } = await frontend.take<{ notification: Notification }>('/v1/services/notifications', {
      body: sent,
      headers,
    });
    return notification;
  };
}

/** The desk, once its apps are there. */
export async function openDesk(context: BrowserContext, platform: Target): Promise<Page> {
  const page = await context.newPage();
  await page.goto(platform.origin);
  await tileOf(page, 'gazette').waitFor();
  return page;
}
