// Everything the command line prints, on a terminal or not: its own colours, and of everything else no escape sequence.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const module = new URL('./terminal.ts', import.meta.url).href;
/** Changes the title, writes to the clipboard, erases the screen, in C0 and C1; reverses the line. */
const FOREIGN = 'a\u001b]0;title\u0007b\u001b]52;c;ZXZpbA==\u001b\\c\u001b[2Jd\u009b31me\u202ef\u0000g';

/** What a process writes that runs `code` with everything of the module; `onTerminal` says that it believes so. */
function written(code: string, onTerminal: boolean): { readonly out: string; readonly error: string } {
  const source = `
    if (${onTerminal}) process.stdout.isTTY = process.stderr.isTTY = true;
    const { complain, paint, say, sayJson, step } = await import(${JSON.stringify(module)});
    const FOREIGN = ${JSON.stringify(FOREIGN)};
    ${code}`;
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  });
  assert.equal(run.status, 0, run.stderr);
  return { out: run.stdout, error: run.stderr };
}

const OURS = /\u001b\[(?:\d{1,2}m|2K)/g;

function assertHarmless(text: string): void {
  const rest = text.replaceAll(OURS, '').replaceAll(/[\r\n]/g, '');
  assert.doesNotMatch(rest, /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u, JSON.stringify(text));
  assert.match(rest, /a.*b.*c.*d.*e.*f.*g/);
}

for (const onTerminal of [true, false]) {
  const where = onTerminal ? 'a terminal' : 'a pipe';

  test(`on ${where}, text from elsewhere is harmless in every way of saying it`, () => {
    assertHarmless(written('say(FOREIGN)', onTerminal).out);
    assertHarmless(written("say(paint('red', FOREIGN))", onTerminal).out);
    assertHarmless(written("say(paint('dim', FOREIGN) + ' and')", onTerminal).out);
    assertHarmless(written('complain(FOREIGN)', onTerminal).error);
    assertHarmless(written('await step(FOREIGN, async () => {})', onTerminal).out);
    assertHarmless(written('await step(FOREIGN, async () => { throw 1 }).catch(() => {})', onTerminal).out);
    const { out } = written('sayJson({ FOREIGN }, 2)', onTerminal);
    assert.doesNotMatch(out.replaceAll('\n', ''), /[\p{Cc}\u202a-\u202e]/u);
    assert.deepEqual(JSON.parse(out), { FOREIGN });
  });
}

test('our own colours are printed where people read, and a text cannot ask for them', () => {
  assert.equal(written("say(paint('red', 'x'))", true).out, '\u001b[31mx\u001b[0m\n');
  assert.equal(written("say(paint('red', 'x'))", false).out, 'x\n');
  // What one process marks its colours with is nothing to another.
  const copied = `const marked = ${JSON.stringify(written("process.stdout.write(paint('red', 'x'))", true).out)};`;
  assert.doesNotMatch(written(`${copied} say(marked)`, true).out, /\u001b/);
  assert.doesNotMatch(written("say('\\u001b[31mx')", true).out, /\u001b/);
});
