// Apps whose frames do what no honest app would, driven step by step by a test.
import { strict as assert } from 'node:assert';
import type { Grant } from '@platform/contract';
import type { Frame, Page } from 'playwright-core';
import type { TestAccount } from '../support/client.ts';
import { publishTestApp } from '../support/publish.ts';

/** What a page of such an app offers to the test, as the global `attack`. */
export interface Attack {
  /** Answers of the shell to greetings, newest last. */
  readonly welcomes: { readonly nonce: string; readonly context: Record<string, unknown> }[];
  readonly ports: MessagePort[];
  /** Launch data that the shell sent. */
  readonly launched: string[];
  greet(nonce: string, window?: Window): void;
  /** Calls a method on a port: its result, or the code of the refusal. A port that was closed never answers. */
  call(port: number, method: string, params?: unknown): Promise<unknown>;
  post(port: number, message: unknown): void;
  /** Takes the focus, once or every 20 ms until `stopStealing`. */
  stealOnce(): void;
  steal(): void;
  /** Takes it and gives it to the page around it at once, without end. */
  handOn(): void;
  stopStealing(): void;
  /** How often the focus came to this frame. */
  thefts: number;
  /** Keys that reached this frame. */
  readonly keys: string[];
  /** Takes the focus by every means a page has, without end. What it hears it tells the test by `hear`, if that is there. */
  takeEverything(): void;
}

/** Runs in the frame; plain JavaScript, as an app would bring it. */
const SCRIPT = `
const attack = { welcomes: [], ports: [], launched: [], thefts: 0, keys: [] };
addEventListener('keydown', ({ key }) => attack.keys.push(key));
addEventListener('focus', () => { attack.thefts += 1; });
const waiting = new Map();
let lastId = 0;
let timer;
addEventListener('message', (event) => {
  if (event.data?.type === 'platform.launched') attack.launched.push(event.data.fragment);
  if (event.data?.type !== 'platform.welcome') return;
  const [port] = event.ports;
  attack.ports.push(port);
  port.addEventListener('message', ({ data }) => waiting.get(data.id)?.(data));
  port.start();
  attack.welcomes.push({ nonce: event.data.nonce, context: event.data.context });
});
attack.greet = (nonce, target = parent) => target.postMessage({ type: 'platform.hello', version: 1, nonce }, '*');
attack.post = (number, message) => attack.ports[number].postMessage(message);
attack.call = (number, method, params) => new Promise((resolve) => {
  lastId += 1;
  waiting.set(lastId, (answer) => resolve(answer.error?.code ?? answer.result));
  attack.ports[number].postMessage({ id: lastId, method, params });
});
attack.stealOnce = () => {
  window.focus();
  document.querySelector('input').focus();
};
attack.steal = () => {
  timer = setInterval(attack.stealOnce, 20);
};
attack.handOn = () => {
  timer = setInterval(() => {
    attack.stealOnce();
    parent.focus();
  }, 20);
};
attack.stopStealing = () => clearInterval(timer);

const HEARING = ['keydown', 'keypress', 'keyup', 'beforeinput', 'input', 'compositionupdate', 'paste', 'textInput'];
const listenIn = (target) => {
  for (const type of HEARING) {
    target.addEventListener(type, (event) => {
      globalThis.hear?.(location.hostname.split('--')[0], type, String(event.key ?? event.data ?? ''));
    }, true);
  }
};
listenIn(window);
const quietly = (act) => {
  try {
    Promise.resolve(act()).catch(() => {});
  } catch {}
};
attack.takeEverything = () => {
  document.body.insertAdjacentHTML('beforeend', '<input id="auto" autofocus><textarea id="area"></textarea>' +
    '<div id="free" contenteditable tabindex="0">x</div><dialog id="box"><input autofocus></dialog>' +
    '<div id="pop" popover="manual"><input autofocus></div><iframe id="inner"></iframe><button id="press">x</button>');
  const byId = (id) => document.getElementById(id);
  const inner = byId('inner').contentWindow;
  inner.document.body.innerHTML = '<input id="deep">';
  listenIn(inner);
  const ways = [
    () => window.focus(),
    () => byId('auto').focus(),
    () => byId('area').select(),
    () => byId('free').focus(),
    () => inner.focus(),
    () => inner.document.getElementById('deep').focus(),
    () => { byId('box').close(); byId('box').showModal(); },
    () => { byId('pop').hidePopover(); byId('pop').showPopover(); },
    () => getSelection().selectAllChildren(byId('free')),
    () => byId('press').click(),
    () => parent.frames[0]?.focus(),
    () => { const fresh = document.createElement('input'); fresh.autofocus = true; byId('area').after(fresh); fresh.focus(); fresh.remove(); },
  ];
  const all = () => { for (const way of ways) quietly(way); };
  const again = () => { all(); requestAnimationFrame(again); };
  again();
  setInterval(all, 1);
  const channel = new MessageChannel();
  channel.port1.onmessage = () => { quietly(ways[0]); quietly(ways[1]); setTimeout(() => channel.port2.postMessage(0), 3); };
  channel.port2.postMessage(0);
  for (const type of ['blur', 'focusout', 'visibilitychange', 'pagehide', 'pointermove']) addEventListener(type, all, true);
  byId('press').addEventListener('click', () => {
    quietly(() => document.documentElement.requestFullscreen());
    quietly(() => document.body.requestPointerLock());
    quietly(() => navigator.keyboard?.lock());
  });
  for (const blocking of [
    () => alert('Type here'),
    () => { const typed = prompt('Type here'); if (typed) globalThis.hear?.('hostile', 'prompt', typed); },
    () => confirm('Type here'),
    () => print(),
  ]) setTimeout(() => quietly(blocking), 0);
};
globalThis.attack = attack;
`;

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Hostile</title>
<script src="attack.js"></script><main><h1>Hostile</h1><label>Trap <input></label></main></html>`;

/** Publishes the app in the account's name. */
export async function publishHostileApp(account: TestAccount, appId: string, permissions: Grant[]): Promise<void> {
  const files = { 'frontend/index.html': PAGE, 'frontend/attack.js': SCRIPT };
  await publishTestApp(account, appId, { permissions }, files);
}

/** Shows the app in the page and gives its frame, once the script in it runs. */
export async function showApp(page: Page, appId: string): Promise<Frame> {
  await page.evaluate((address) => {
    location.hash = address;
  }, `#/app/${appId}`);
  const element = await page.locator(`iframe[title="${appId}"]`).elementHandle();
  const frame = await element?.contentFrame();
  assert.ok(frame, `the frame of ${appId}`);
  await frame.waitForFunction(() => 'attack' in globalThis);
  return frame;
}

/** In the frames of these apps. */
declare const attack: Attack;

let nonces = 0;

export function freshNonce(): string {
  nonces += 1;
  return `nonce-of-the-test-${nonces}`;
}

/** Greets and waits for the answer. @returns the number of its port */
export async function connect(from: Frame): Promise<number> {
  const nonce = freshNonce();
  await from.evaluate((sent) => attack.greet(sent), nonce);
  await from.waitForFunction((sent) => attack.welcomes.some((welcome) => welcome.nonce === sent), nonce);
  return from.evaluate(() => attack.ports.length - 1);
}

/** A call by the app: its result, or the code of the refusal. */
export function call(from: Frame, port: number, method: string, params?: unknown): Promise<unknown> {
  return from.evaluate(([number, name, value]) => attack.call(number, name, value), [port, method, params] as [
    number,
    string,
    unknown,
  ]);
}
