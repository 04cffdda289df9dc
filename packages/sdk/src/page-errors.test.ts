// The script that tells the platform what goes wrong in a page changes nothing for the page, whatever it throws or logs.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import vm from 'node:vm';
import { PAGE_ERRORS } from '../build.ts';

interface Told {
  readonly error: { readonly message: string; readonly stack: string | null };
}

/** A page with the script in it. */
async function page() {
  const told: Told[] = [];
  const logged: unknown[][] = [];
  const listeners = new Map<string, (event: object) => void>();
  const context = vm.createContext({
    location: { origin: 'https://plants--a.apps.example' },
    parent: { postMessage: (data: Told) => told.push(data) },
    addEventListener: (type: string, heard: (event: object) => void) => listeners.set(type, heard),
    console: { error: (...values: unknown[]) => logged.push(values) },
  });
  vm.runInContext(await readFile(PAGE_ERRORS, 'utf8'), context);
  return { told, logged, listeners, run: (code: string) => vm.runInContext(code, context) };
}

const ODD = {
  'an object without a prototype': 'Object.create(null)',
  'one whose text fails': '({ toString() { throw new Error("no"); } })',
  'one whose members fail': '({ get message() { throw new Error("no"); }, get stack() { throw new Error("no"); } })',
  'one whose message is a symbol': '({ message: Symbol("x") })',
  'one whose message is an object without a prototype': '({ message: Object.create(null) })',
  'a symbol': 'Symbol("x")',
  nothing: 'null',
};

for (const [what, code] of Object.entries(ODD))
  test(`${what} is logged and rejected as without the script`, async () => {
    const { told, logged, listeners, run } = await page();
    run(`console.error('before', ${code})`);
    assert.equal(logged.length, 1);
    listeners.get('unhandledrejection')?.({ reason: run(code) });
    assert.equal(told.length, 2);
    assert.match(told[0]?.error.message ?? '', /^before ./);
    assert.match(told[1]?.error.message ?? '', /^Nothing handles this: ./);
  });

test('a stack names files, and not the address of the page', async () => {
  const { told, run } = await page();
  run('console.error({ message: "x", stack: "at " + location.origin + "/a.js:3" })');
  assert.deepEqual([told[0]?.error.message, told[0]?.error.stack], ['x', 'at /a.js:3']);
});
