// Other gateways for AI providers, each in a process of its own. They are no dependencies of this project: the bench
// installs them once, into the user's cache folder. They know no budgets here, which would take a database of theirs.
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../tests/support/free-port.ts';
import { startProgram } from '../gateway/processes.ts';

const run = promisify(execFile);
/** With the web server of its time: under later ones of the range that it asks for, all its streams fail with 500. */
const PORTKEY = {
  private: true,
  dependencies: { '@portkey-ai/gateway': '1.15.2' },
  overrides: { '@hono/node-server': '1.11.1', hono: '4.9.7' },
};
const LITELLM = 'litellm[proxy]==1.106.2';
const INSTALL_MS = 900_000;

export interface Peer {
  readonly name: string;
  /** As a client of OpenAI is given it. */
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export interface PeerSettings {
  readonly core: number;
  /** Base URL of the provider, and its certificate, PEM, as a file. */
  readonly provider: string;
  readonly ca: string;
}

export async function startPortkey({ core, provider, ca }: PeerSettings): Promise<Peer> {
  const folder = join(await cache(), 'portkey');
  const main = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  if (!(await exists(main))) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), JSON.stringify(PORTKEY));
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, timeout: INSTALL_MS });
  }
  const port = await freePort();
  const { stop } = await startProgram([process.execPath, main, `--port=${port}`, '--headless'], {
    core,
    port,
    environment: { NODE_ENV: 'production', NODE_EXTRA_CA_CERTS: ca },
  });
  const headers = {
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': provider,
    authorization: 'Bearer sk-through-portkey',
  };
  return { name: 'Portkey 1.15.2', base: `http://127.0.0.1:${port}/v1`, headers, stop };
}

export async function startLiteLlm({ core, provider, ca }: PeerSettings): Promise<Peer> {
  const folder = join(await cache(), 'litellm');
  const main = join(folder, 'bin/litellm');
  if (!(await exists(main))) {
    await run('python3', ['-m', 'venv', folder], { timeout: INSTALL_MS });
    await run(join(folder, 'bin/pip'), ['install', '-q', LITELLM], { timeout: INSTALL_MS });
  }
  const settings = await mkdtemp(join(tmpdir(), 'bench-litellm-'));
  const file = join(settings, 'config.json');
  const model = { model: 'openai/small', api_base: provider, api_key: 'sk-through-litellm' };
  const config = {
    model_list: [{ model_name: 'small', litellm_params: model }],
    litellm_settings: { telemetry: false },
    general_settings: { master_key: 'sk-of-the-bench' },
  };
  // JSON is YAML.
  await writeFile(file, JSON.stringify(config));
  const port = await freePort();
  const started = await startProgram([main, '--config', file, '--host', '127.0.0.1', '--port', String(port)], {
    core,
    port,
    environment: {
      SSL_CERT_FILE: ca,
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      LITELLM_LOG: 'ERROR',
      NO_PROXY: '*',
    },
  });
  return {
    name: 'LiteLLM 1.106.2',
    base: `http://127.0.0.1:${port}/v1`,
    headers: { authorization: 'Bearer sk-of-the-bench' },
    async stop() {
      await started.stop();
      await rm(settings, { recursive: true });
    },
  };
}

async function cache(): Promise<string> {
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'platform-bench');
  await mkdir(folder, { recursive: true });
  return folder;
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
