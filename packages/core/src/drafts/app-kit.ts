// What the platform has for those who make apps: what an app can begin with, and files that it adds. The process around core gives it.
import type { AppTemplate } from '@platform/contract';
import type { Files } from './pack-files.ts';

/** For those who make apps. */
export interface AppKit {
  readonly templates: readonly AppTemplate[];
  /** The text of files that an app uses under these names without having them. */
  readonly added: Files;
}

/** Nothing to begin with, and nothing is added. */
export const NO_KIT: AppKit = { templates: [], added: {} };

/** The files with those of the platform that others of the same folder name. What was handed in under such a name stays. */
export function withAdded({ added }: AppKit, files: Files): Files {
  const missing = Object.entries(added).filter(([path]) => !Object.hasOwn(files, path) && isNamed(files, path));
  return { ...files, ...Object.fromEntries(missing) };
}

function isNamed(files: Files, path: string): boolean {
  const [folder = '', name = ''] = path.split('/');
  return Object.entries(files).some(([one, text]) => one.startsWith(`${folder}/`) && text.includes(name));
}

/** Whether it is exactly what the platform adds, so that nobody has to read it again. */
export function isOfPlatform({ added }: AppKit, path: string, text: string | null): boolean {
  return text !== null && Object.hasOwn(added, path) && added[path] === text;
}

/** As its author sees the app: what the platform adds, in whichever version of it, is not among its files. */
export function isAuthored({ added }: AppKit, path: string): boolean {
  return !Object.hasOwn(added, path);
}
