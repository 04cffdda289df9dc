// The line for native clients is what the SDK reads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientLine, placeOf } from './client-line.ts';

test('the line has ticket and capability, and says where the backend is', () => {
  const url = 'https://node.example.org:8788/v1/endpoints/~ÿ?';
  const ticket = `pet1.${Buffer.from(JSON.stringify({ url: new URL(url).href })).toString('base64url')}`;
  const line = clientLine({ endpointTicket: ticket, capability: 'pdc_abc' });
  assert.equal(line, `${ticket}#pdc_abc`);
  assert.equal(placeOf(line), new URL(url).href);
});
