// The templates of projects: which folders make one, and what of it is the project's own.
import * as path from 'node:path';
import type { Kind, Project } from './choose-project.ts';

/** Projects of their own: nothing of the command line imports a file of them. */
export const TEMPLATES = path.join(import.meta.dirname, '../../templates');

/** Folders of a language, each copied over the one before. */
export const LAYERS: Readonly<Record<Kind, readonly string[]>> = {
  frontend: ['all', 'page', 'frontend'],
  backend: ['all', 'server', 'backend'],
  both: ['all', 'page', 'server', 'both'],
};

/** Stands for the name of the app in templates of pages. */
const NAME_PLACE = 'APP_NAME';

/** @param template of an app with both parts */
export function manifestFor(
  template: Readonly<Record<string, unknown>>,
  { kind, name, id }: Pick<Project, 'kind' | 'name' | 'id'>,
): Readonly<Record<string, unknown>> {
  const { icon, frontend, workload, permissions, ...base } = template;
  return {
    ...{ ...base, id, name },
    ...(kind === 'backend' ? {} : { icon, frontend }),
    // Without a page nobody calls it, so that it would not start by itself.
    ...(kind === 'frontend'
      ? {}
      : { workload: kind === 'backend' ? { ...(workload as object), mode: 'always' } : workload, permissions }),
  };
}

/** @param page of a template. @returns it with the name of the app */
export function named(page: string, name: string): string {
  return page.replaceAll(NAME_PLACE, () => escapeHtml(name));
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
