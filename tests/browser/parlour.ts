// An app whose page talks to its backend: over a WebSocket from the beginning, and with a request at a click.
import { readFile } from 'node:fs/promises';
import { buildSdk } from '@platform/sdk/build';
import type { FrameLocator, Page } from 'playwright-core';
import type { Target, TestAccount } from '../support/client.ts';
import { NATIVE_ENGINE } from '../support/native-engine.ts';
import { publishTestApp } from '../support/publish.ts';

const PAGE =
  '<!doctype html><title>Chat</title><p id="said"></p><button>Ask</button><script type="module" src="main.js"></script>';
/** Shows what the backend says, on its WebSocket and when it is asked. */
const SCRIPT = `
import { App } from './sdk.js';
const said = document.querySelector('#said');
const app = await App.connect();
document.querySelector('button').onclick = async () => {
  said.textContent += ' ' + JSON.stringify(await app.backend.json('/echo', { body: 'asked' }));
};
const socket = await app.backend.webSocket('/chat');
socket.onmessage = ({ data }) => { said.textContent += ' ' + data; };
socket.onclose = () => { said.textContent += ' closed'; };
socket.send('hello');
`;

/** Publishes it as `parlour`. */
export async function publishParlour(publisher: TestAccount): Promise<void> {
  const sdk = await buildSdk();
  await publishTestApp(
    publisher,
    'parlour',
    { name: 'Parlour', workload: { runtime: 'node', entry: 'main.mjs' } },
    {
      'frontend/index.html': PAGE,
      'frontend/main.js': SCRIPT,
      'frontend/sdk.js': await readFile(sdk.browser),
      'workload/main.mjs': NATIVE_ENGINE,
      'workload/sdk.js': await readFile(sdk.workload),
    },
  );
}

/** @returns its page in the shell */
export async function openParlour({ origin }: Target, page: Page): Promise<FrameLocator> {
  await page.goto(`${origin}/#/app/parlour`);
  return page.frameLocator('iframe[title="Parlour"]');
}
