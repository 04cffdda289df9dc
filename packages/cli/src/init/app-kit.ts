// What apps that make apps begin with, and what the platform adds to what they make: the templates of `platform init` in plain
// JavaScript, which needs no build, and the files of the SDK.
import { readdir, readFile } from 'node:fs/promises';
import * as path from 'node:path';
import type { AppKit } from '@platform/core';
import { systemCode } from '@platform/core/start';
import { PAGE_ERRORS, SDK_FILES } from '@platform/sdk/build';
import { SDK_NAMES } from '../packaging/plan-package.ts';
import { KINDS, type Kind } from './choose-project.ts';
import { LAYERS, manifestFor, named, TEMPLATES } from './templates.ts';

const ABOUT: Readonly<Record<Kind, string>> = {
  frontend: 'A page that counts presses of its button, and keeps the count while it is open.',
  backend: 'A program on the server that runs all the time and keeps its count in a file. No page.',
  both: 'A page and its program on the server, which keeps the count in a file and sends a notification.',
};
const PARTS = ['frontend', 'workload'];
const ERRORS_NAME = 'platform-errors.js';

/** The SDK as it was built with the platform. */
export async function openAppKit(): Promise<AppKit> {
  const added = {
    [SDK_NAMES.browser]: await textOf(SDK_FILES.browser),
    [SDK_NAMES.workload]: await textOf(SDK_FILES.workload),
    [`frontend/${ERRORS_NAME}`]: await textOf(PAGE_ERRORS),
  };
  return {
    templates: await Promise.all(KINDS.map(templateOf)),
    added: Object.fromEntries(Object.entries(added).flatMap(([name, text]) => (text === null ? [] : [[name, text]]))),
  };
}

/** @returns `null` where it was not built */
async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function templateOf(kind: Kind): Promise<AppKit['templates'][number]> {
  const { $schema: _, ...manifest } = JSON.parse(await readFile(path.join(TEMPLATES, 'manifest.json'), 'utf8'));
  const own = manifestFor(manifest, { kind, id: manifest.id, name: manifest.name });
  const files: Record<string, string> = { 'manifest.json': `${JSON.stringify(own, null, 2)}\n` };
  for (const layer of LAYERS[kind])
    for (const part of PARTS) {
      const folder = path.join(TEMPLATES, 'javascript', layer, part);
      for (const name of await namesIn(folder)) {
        const text = await readFile(path.join(folder, name), 'utf8');
        files[`${part}/${name}`] = name === 'index.html' ? withErrors(named(text, manifest.name)) : text;
      }
    }
  return { kind, about: ABOUT[kind], files };
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Before every other script, so that it reports each that cannot be loaded. */
function withErrors(page: string): string {
  return page.replace('<script ', () => `<script src="${ERRORS_NAME}"></script>\n    <script `);
}
