// Making apps, as tools: for apps and agents with the permission, which see what became of those that they made themselves.
import { changeAppBody, limits, makeAppBody, routes, sizeText } from '@platform/contract';
import * as z from 'zod';
import { type BuiltInTool, builtInTool } from '../built-in-tool.ts';

const { params: ofApp } = routes['services.apps.source'];
const { query: ofSource } = routes['services.apps.source'];
const { query: ofLog } = routes['services.apps.log'];
const most = sizeText(limits.toolArguments.value);

export const draftTools: readonly BuiltInTool[] = [
  builtInTool({
    name: 'platform-apps.templates',
    title: 'Templates of apps',
    description: [
      'Complete small apps to begin with: of kind `frontend` (a page), `backend` (a program on the server, Node.js) and `both`.',
      'Take the files of one, give the app its own id, name and summary in manifest.json, change the rest, and hand them in with platform-apps.create.',
      'The page may load ./platform-sdk.js and ./platform-errors.js, a backend ./platform-sdk.mjs: the platform adds these files by itself.',
    ].join(' '),
    route: 'services.apps.templates',
    effect: 'reads',
    for: 'apps',
    arguments: z.strictObject({}),
    place: () => ({}),
  }),
  builtInTool({
    name: 'platform-apps.create',
    title: 'Make an app',
    description: [
      'Hands in a new app for this person, with all its files as text: manifest.json, and others below frontend/ and workload/.',
      'Begin with a template. Nothing runs yet: the person reads the source, tries the page and adds the app or not.',
      'Pages run no inline scripts or handlers and load nothing from other sites, so put scripts into files.',
      'index.html should load platform-errors.js before its own scripts, so that platform-apps.errors tells you what goes wrong in it, and draw what it can before it waits for the platform.',
      `All arguments take at most ${most}: hand in the rest with platform-apps.change. A refusal says what is wrong with which file.`,
    ].join(' '),
    route: 'services.apps.create',
    effect: 'changes',
    for: 'apps',
    arguments: makeAppBody,
    place: (body) => ({ body }),
  }),
  builtInTool({
    name: 'platform-apps.change',
    title: 'Change an app',
    description: [
      'Hands in a version of an app that you made, as the files that are new or changed; null takes a file away, and the others stay.',
      'If the person has added the app, put a higher version into manifest.json, with a sentence in `changes`.',
      'The person sees the difference and decides. It holds no more permissions than before unless they allow them.',
    ].join(' '),
    route: 'services.apps.change',
    effect: 'changes',
    for: 'apps',
    arguments: z.strictObject({ ...ofApp.shape, ...changeAppBody.shape }),
    place: ({ appId, files }) => ({ params: { appId }, body: { files } }),
  }),
  builtInTool({
    name: 'platform-apps.source',
    title: 'Source of an app',
    description:
      'The files of an app that you made, as you handed them in last. Where text is null, ask for that file by its path; where next is a number, go on with it as offset.',
    route: 'services.apps.source',
    effect: 'reads',
    for: 'apps',
    arguments: z.strictObject({ ...ofApp.shape, ...ofSource.shape }),
    place: ({ appId, ...query }) => ({ params: { appId }, query: given(query) }),
  }),
  builtInTool({
    name: 'platform-apps.log',
    title: 'Log of an app',
    description: 'The last lines that the backend of an app wrote that you made and the person added, newest first.',
    route: 'services.apps.log',
    effect: 'reads',
    for: 'apps',
    arguments: z.strictObject({ ...ofApp.shape, ...ofLog.shape }),
    place: ({ appId, ...query }) => ({ params: { appId }, query: given(query) }),
  }),
  builtInTool({
    name: 'platform-apps.errors',
    title: 'Errors of an app',
    description:
      'The last errors in the pages of an app that you made and the person opened, newest first, with file and line. Pages report them that load platform-errors.js.',
    route: 'services.apps.errors',
    effect: 'reads',
    for: 'apps',
    arguments: ofApp,
    place: (params) => ({ params }),
  }),
];

/** Without members that are not there. */
function given(query: object): object {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}
