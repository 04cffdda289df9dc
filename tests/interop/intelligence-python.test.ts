// The stock Python clients of two AI providers, unmodified, with nothing but the variables that a workload gets: through a
// real Gateway and a real core to a scripted provider over TLS.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type IntelligenceApp, type IntelligenceWorld, startIntelligenceWorld } from '../support/intelligence-world.ts';

const run = promisify(execFile);
const CLIENTS = ['openai==3.54.0', 'anthropic==2.12.0'];
const INSTALL_MS = 180_000;
const TEXT = 'Hello from the scripted provider';

let folder: string;
let world: IntelligenceWorld;
let asker: IntelligenceApp;
/** Why the clients are not there; `null` when they are. */
let missing: string | null = null;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'intelligence-python-'));
  try {
    await run('python3', ['-m', 'venv', path.join(folder, 'venv')], { timeout: INSTALL_MS });
    await run(path.join(folder, 'venv/bin/pip'), ['install', '-q', ...CLIENTS], { timeout: INSTALL_MS });
  } catch {
    missing = 'needs Python with venv, and a package index';
    return;
  }
  world = await startIntelligenceWorld();
  asker = await world.openApp('asker', ['openai:small', 'anthropic:*']);
});
after(async () => {
  await world?.close();
  await rm(folder, { recursive: true });
});

/** What the program prints. */
async function python(program: string): Promise<string[]> {
  const file = path.join(folder, 'program.py');
  await writeFile(file, program);
  const { stdout } = await run(path.join(folder, 'venv/bin/python'), [file], {
    env: { ...asker.environment, HOME: folder },
    timeout: 60_000,
  });
  return stdout.trim().split('\n');
}

const programs: Readonly<Record<string, readonly [program: string, printed: readonly string[]]>> = {
  'openai: a chat, whole and streamed, and a refusal as its own error': [
    `
import openai
client = openai.OpenAI()
messages = [{"role": "user", "content": "Say hello."}]
print(client.chat.completions.create(model="small", messages=messages).choices[0].message.content)
stream = client.chat.completions.create(model="small", messages=messages, stream=True)
print("".join(chunk.choices[0].delta.content or "" for chunk in stream))
print([model.id for model in client.models.list()])
try:
    client.chat.completions.create(model="large", messages=messages)
except openai.PermissionDeniedError as error:
    print(error.code)
`,
    [TEXT, TEXT, "['small']", 'grant_missing'],
  ],
  'anthropic: messages, whole and streamed, and the count of tokens': [
    `
import anthropic
client = anthropic.Anthropic()
messages = [{"role": "user", "content": "Say hello."}]
print(client.messages.create(model="small", max_tokens=100, messages=messages).content[0].text)
with client.messages.stream(model="small", max_tokens=100, messages=messages) as stream:
    print("".join(stream.text_stream))
print(client.messages.count_tokens(model="small", messages=messages).input_tokens)
`,
    [TEXT, TEXT, '11'],
  ],
};

for (const [name, [program, printed]] of Object.entries(programs)) {
  test(name, { timeout: 3 * INSTALL_MS }, async (t) => {
    if (missing !== null) return t.skip(missing);
    const former = await asker.settled();
    assert.deepEqual(await python(program), printed);
    const now = await asker.settled();
    assert.equal(now.tokens - former.tokens, 32, 'two answers of 16 tokens');
  });
}
