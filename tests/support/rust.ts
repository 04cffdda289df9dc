// Builds the example programs of the Rust client (sdk-rust/examples), static and without TLS, as a workload would be.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const crate = fileURLToPath(new URL('../../sdk-rust/', import.meta.url));
const FETCH_MS = 120_000;
const BUILD_MS = 540_000;
const OUTPUT_BYTES = 16 * 1024 * 1024;

export type RustPrograms =
  | { readonly missing: null; program(name: string): string }
  /** Why there are none. */
  | { readonly missing: string };

/** @throws when they do not compile */
export async function buildRustPrograms(): Promise<RustPrograms> {
  const wanted = minorOf(/^rust-version = "(.*)"$/m, await readFile(path.join(crate, 'Cargo.toml'), 'utf8'));
  const found = minorOf(/^cargo (\S+)/, (await said('cargo', ['--version'])) ?? '');
  if (found < wanted) return { missing: `needs cargo 1.${wanted} or later` };
  if ((await said('cargo', ['fetch', '--locked'], FETCH_MS)) === null)
    return { missing: 'needs the crates of sdk-rust/Cargo.lock, from a registry or a cache' };
  const { target, flags } = await staticTarget();
  const built = [
    'build',
    '--locked',
    '--no-default-features',
    '--features',
    'websocket',
    '--examples',
    '--target',
    target,
  ];
  const { stdout } = await run('cargo', [...built, '--message-format', 'json-render-diagnostics'], {
    cwd: crate,
    env: { ...process.env, RUSTFLAGS: flags },
    timeout: BUILD_MS,
    maxBuffer: OUTPUT_BYTES,
  });
  const programs = new Map<string, string>();
  for (const line of stdout.trim().split('\n')) {
    const { executable, target: built } = JSON.parse(line) as { executable?: string; target?: { name: string } };
    if (executable && built !== undefined) programs.set(built.name, executable);
  }
  return {
    missing: null,
    program(name) {
      const file = programs.get(name);
      if (file === undefined) throw new Error(`sdk-rust/examples has no ${name}.rs.`);
      return file;
    },
  };
}

/** Of the version that the pattern finds; below every one when it finds none. */
function minorOf(pattern: RegExp, text: string): number {
  return Number(/^1\.(\d+)/.exec(pattern.exec(text)?.[1] ?? '')?.[1] ?? -1);
}

/** musl where its standard library is installed; else the C library of this machine, linked statically. */
async function staticTarget(): Promise<{ readonly target: string; readonly flags: string }> {
  const musl = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-musl`;
  const libraries = (await said('rustc', ['--print', 'target-libdir', '--target', musl])) ?? '';
  if ((await said('ls', [libraries.trim()])) !== null) return { target: musl, flags: '' };
  return { target: musl.replace(/musl$/, 'gnu'), flags: '-C target-feature=+crt-static' };
}

/** What a program prints; `null` when it is not there or fails. */
async function said(program: string, args: readonly string[], timeout = 10_000): Promise<string | null> {
  try {
    return (await run(program, args, { cwd: crate, timeout })).stdout;
  } catch {
    return null;
  }
}
