// How public routes and ports read in reviews and in Settings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { portInWords, routeInWords } from './route-words.ts';

for (const [route, words] of [
  ['GET:/', '/ (GET)'],
  ['POST:/hooks/github', '/hooks/github (POST)'],
  ['POST:/hooks/*', '/hooks/ and everything below it (POST)'],
  ['GET:/*', 'every path (GET)'],
  ['WS:/chat', '/chat (WebSocket)'],
  ['WS:/rooms/*', '/rooms/ and everything below it (WebSocket)'],
  ['GET:/ho*', 'every path starting with /ho (GET)'],
  ['GET:*', 'every path (GET)'],
  ['*', 'every path that the app declares'],
  ['PO*', 'everything starting with “PO”'],
] as const) {
  test(`the route ${route} reads: ${words}`, () => assert.equal(routeInWords(route), words));
}

for (const [resource, words] of [
  ['UDP:7777', 'UDP port 7777'],
  ['UDP:auto', 'a UDP port that the platform chooses'],
  ['UDP:*', 'every UDP port that the app declares'],
  ['*', 'every UDP port that the app declares'],
] as const) {
  test(`the port ${resource} reads: ${words}`, () => assert.equal(portInWords(resource), words));
}
