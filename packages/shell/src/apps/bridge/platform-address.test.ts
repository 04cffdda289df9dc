// No spelling of an address of the platform passes for one outside.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPlatformAddress } from './platform-address.ts';

const SHELL = 'https://cloud.example.org';
const APP = 'https://notes--abc.example-apps.net';

for (const [url, expected] of [
  ['https://cloud.example.org/#/app/notes', true],
  ['https://CLOUD.example.org./', true],
  ['https://cloud.example.org:8443/', true],
  ['https://cloud.ex\u00ADample.org/', true],
  ['https://notes--abc.example-apps.net/index.html', true],
  ['https://store--xyz.example-apps.net./', true],
  ['https://example-apps.net/', true],
  ['https://example.org/', false],
  ['https://cloud.example.org.evil.example/', false],
  ['https://my-example-apps.net/', false],
] as const) {
  test(`${url} is ${expected ? 'of' : 'outside'} the platform`, () =>
    assert.equal(isPlatformAddress(url, SHELL, APP), expected));
}
