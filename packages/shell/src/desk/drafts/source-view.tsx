// The source of an app that an app made: every file, and for a new version what changed in it.
import type { DraftReview } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { Button } from '../../design/controls.tsx';
import { visibleText } from '../../design/visible-text.ts';
import { shortVersion, sizeText } from '../../design/words.ts';
import { type ComparedFile, comparedLines, compareFiles, type Line, type Run, runsOf } from './line-diff.ts';
import { LINE_PORTION, PORTION, partOf } from './portions.ts';

const CHANGES = { added: 'New', removed: 'Removed', changed: 'Changed', same: 'Unchanged' } as const;
const MARKS = { same: ' ', added: '+', removed: '-' } as const;
const SAID = { same: '', added: 'Added: ', removed: 'Removed: ' } as const;

export function SourceView({ draft }: { readonly draft: Pick<DraftReview, 'files' | 'former' | 'version'> }) {
  const { files, former } = draft;
  const compared = useMemo(() => compareFiles(former?.files ?? [], files), [draft]);
  const lengths = new Map(files.map((file) => [file.path, file.bytes]));
  const known = new Set(files.filter(({ ofPlatform }) => ofPlatform).map((file) => file.path));
  const changed = compared.filter(({ change }) => change !== 'same').length;
  return (
    <>
      <h3>{former === null ? 'Its source' : `What changed since ${shortVersion(former.version)}`}</h3>
      <p class="quiet-text">
        {former === null
          ? `${files.length} ${files.length === 1 ? 'file' : 'files'}. This is all that would run.`
          : `${changed} of ${compared.length} files. Unchanged ones come last.`}
        {files.some(({ ofPlatform }) => ofPlatform) && ' What this platform adds itself is marked.'}
      </p>
      <ul class="source-files">
        {compared.map((file) => (
          <li key={file.path}>
            <File
              file={file}
              length={lengths.get(file.path) ?? null}
              isNew={former === null}
              isKnown={known.has(file.path)}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

function File({
  file,
  length,
  isNew,
  isKnown,
}: {
  readonly file: ComparedFile;
  /** Of the file, `null` where it is gone. */
  readonly length: number | null;
  readonly isNew: boolean;
  /** Exactly what the platform adds. */
  readonly isKnown: boolean;
}) {
  const open = useSignal(false);
  return (
    <details class="source-file" onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>
        <code>{file.path}</code>
        <span class="quiet-text">
          {isKnown && <span class="tag trusted">From this platform</span>}{' '}
          {!isNew && <span class={file.change === 'same' ? 'tag' : 'tag accent'}>{CHANGES[file.change]}</span>}{' '}
          {length !== null && sizeText(length)}
        </span>
      </summary>
      {open.value && <FileText file={file} isNew={isNew} />}
    </details>
  );
}

function FileText({ file, isNew }: { readonly file: ComparedFile; readonly isNew: boolean }) {
  const { path, change } = file;
  const isDiff = !isNew && change === 'changed';
  const runs = useMemo(() => {
    const lines = comparedLines(file);
    if (lines === null) return null;
    return isDiff ? runsOf(lines) : [{ folded: false, lines }];
  }, [file, isDiff]);
  if (runs === null) return <p class="quiet-text source-none">It is no text, or too long to be shown.</p>;
  if (runs.every(({ lines }) => lines.length === 0)) return <p class="quiet-text source-none">It is empty.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
    <section class="source-text" aria-label={path} tabIndex={0} dir="ltr">
      <Portions runs={runs} marked={isDiff} />
    </section>
  );
}

interface Shown {
  /** Whether each line says what became of it. */
  readonly marked: boolean;
}

function Portions({ runs, marked }: Shown & { readonly runs: readonly Run[] }) {
  const rows = useSignal(PORTION);
  const part = partOf(runs, rows.value);
  return (
    <>
      {part.runs.map(({ folded, lines }, index) =>
        folded ? <Folded key={index} lines={lines} /> : <Lines key={index} lines={lines} marked={marked} />,
      )}
      {part.left > 0 && (
        <p class="source-more">
          <Button onClick={() => (rows.value += 10 * PORTION)}>
            Show more: {part.left.toLocaleString('en')} {part.left === 1 ? 'line is' : 'lines are'} left
          </Button>
        </p>
      )}
    </>
  );
}

function Folded({ lines }: { readonly lines: readonly Line[] }) {
  const open = useSignal(false);
  if (open.value) return <Portions runs={[{ folded: false, lines }]} marked />;
  return (
    <button type="button" class="source-folded" onClick={() => (open.value = true)}>
      {lines.length.toLocaleString('en')} unchanged {lines.length === 1 ? 'line' : 'lines'}
    </button>
  );
}

function Lines({ lines, marked }: Shown & { readonly lines: readonly Line[] }) {
  return (
    <pre>
      {lines.map(({ kind, text }, index) => (
        <span key={index} class={`source-line ${marked ? kind : ''}`}>
          {marked && kind !== 'same' && <span class="only-read">{SAID[kind]}</span>}
          {marked && <span aria-hidden="true">{MARKS[kind]} </span>}
          {text.length > LINE_PORTION ? <LongText text={text} /> : visibleText(text)}
          {'\n'}
        </span>
      ))}
    </pre>
  );
}

function LongText({ text }: { readonly text: string }) {
  const characters = useSignal(LINE_PORTION);
  const left = text.length - characters.value;
  return (
    <>
      {visibleText(text.slice(0, characters.value))}
      {left > 0 && (
        <span class="source-more">
          <Button onClick={() => (characters.value += 4 * LINE_PORTION)}>
            Show more: {left.toLocaleString('en')} characters of this line are left
          </Button>
        </span>
      )}
    </>
  );
}
