// What a new project will be: from the options, and on a terminal from the answers of the person.
import { faultWords, fieldErrors, manifest } from '@platform/contract';
import { isPlatformAppId } from '@platform/core/start';
import { UsageError } from '../command.ts';
import { askUntil } from '../terminal/ask.ts';

export const KINDS = ['frontend', 'backend', 'both'] as const;
export type Kind = (typeof KINDS)[number];
export const LANGUAGES = ['javascript', 'typescript'] as const;
export type Language = (typeof LANGUAGES)[number];

export interface Project {
  readonly kind: Kind;
  readonly language: Language;
  /** What people read. */
  readonly name: string;
  readonly id: string;
}

type Options = Readonly<Partial<Record<keyof Project, string | undefined>>>;

/** `platform dev` runs an app as `<id>-dev`. */
const LONGEST_ID = 36;

/**
 * @param folder the name of the project's folder
 * @throws UsageError for an option that is not possible, and for what nobody can be asked
 */
export async function chooseProject(folder: string, options: Options): Promise<Project> {
  // What is given is checked before anything is asked.
  const given = {
    kind: options.kind === undefined ? undefined : oneOf(KINDS, '--kind', options.kind),
    language: options.language === undefined ? undefined : oneOf(LANGUAGES, '--language', options.language),
    name: options.name === undefined ? undefined : checkedName(options.name),
    id: options.id === undefined ? undefined : checkedId(options.id),
  };
  const kind = given.kind ?? (await choose('What does the app have?', KINDS, { what: 'The kind', option: '--kind' }));
  const language =
    given.language ?? (await choose('In which language?', LANGUAGES, { what: 'The language', option: '--language' }));
  const name =
    given.name ?? (await suggest('Its name?', nameFrom(folder), { option: '--name <name>', check: checkedName }));
  const id = given.id ?? (await suggest('Its id?', idFrom(folder), { option: '--id <id>', check: checkedId }));
  return { kind, language, name, id };
}

/** Takes the beginning of a choice too. */
function choose<Choice extends string>(
  question: string,
  choices: readonly Choice[],
  { what, option }: { readonly what: string; readonly option: string },
): Promise<Choice> {
  return askUntil(`${question} ${choices.join(' | ')}`, `Add ${option} ${choices.join('|')}.`, (answer) => {
    const typed = answer.toLowerCase();
    const [begun, other] = choices.filter((choice) => typed !== '' && choice.startsWith(typed));
    return begun !== undefined && other === undefined ? begun : oneOf(choices, what, answer);
  });
}

interface Suggested {
  readonly option: string;
  readonly check: (value: string) => string;
}

/** Enter takes what is suggested, and so does a program, which cannot be asked. */
async function suggest(question: string, suggestion: string, { option, check }: Suggested): Promise<string> {
  if (suggestion !== '' && process.stdin.isTTY !== true) return check(suggestion);
  const whole = `${question} ${suggestion === '' ? '' : `[${suggestion}]`}`.trim();
  return askUntil(whole, `The name of the folder suggests none. Add ${option}.`, (answer) =>
    check(answer === '' ? suggestion : answer),
  );
}

function oneOf<Choice extends string>(choices: readonly Choice[], what: string, value: string): Choice {
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw new UsageError(`${what} is one of ${choices.join(', ')}${value === '' ? '' : `, not "${value}"`}.`);
}

function checkedName(value: string): string {
  const result = manifest.shape.name.safeParse(value);
  if (result.success) return result.data;
  throw new UsageError(`The name ${wordsOf(result.error)}.`);
}

function checkedId(value: string): string {
  const result = manifest.shape.id.safeParse(value);
  if (!result.success) throw new UsageError(`The id "${value}" ${wordsOf(result.error)}.`);
  if (isPlatformAppId(value)) throw new UsageError(`The id "${value}" is reserved for an app of the platform.`);
  return result.data;
}

function wordsOf(error: Parameters<typeof fieldErrors>[0]): string {
  return fieldErrors(error).map(faultWords).join(', and ');
}

/** As close to the name of the folder as an id can be; empty when that leaves too little. */
function idFrom(folder: string): string {
  const plain = folder.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const id = plain
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST_ID)
    .replaceAll(/^-|-$/g, '');
  return manifest.shape.id.safeParse(id).success ? id : '';
}

function nameFrom(folder: string): string {
  const words = folder.replaceAll(/[-_]+/g, ' ').trim();
  const name = words.slice(0, 1).toUpperCase() + words.slice(1);
  return manifest.shape.name.safeParse(name).success ? name : '';
}
