// The source of an app that an app made: every file, and for a new version what changed in it.
import type { DraftReview } from '@platform/contract';
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { Button } from '../../design/controls.tsx';
import { visibleText } from '../../design/visible-text.ts';
import { shortVersion, sizeText } from '../../design/words.ts';
import { type ComparedFile, compareFiles, type Line, type Run, runsOf } from './line-diff.ts';

/** Shown at once; more when the person wants to. */
const LINES = 400;
const CHANGES = { added: 'New', removed: 'Removed', changed: 'Changed', same: 'Unchanged' } as const;
const MARKS = { same: ' ', added: '+', removed: '-' } as const;
const SAID = { same: '', added: 'Added: ', removed: 'Removed: ' } as const;

export function SourceView({ draft }: { readonly draft: Pick<DraftReview, 'files' | 'former' | 'version'> }) {
  const { files, former } = draft;
  const compared = useMemo(() => compareFiles(former?.files ?? [], files), [draft]);
  const lengths = new Map(files.map((file) => [file.path, file.bytes]));
  const changed = compared.filter(({ change }) => change !== 'same').length;
  return (
    <>
      <h3>{former === null ? 'Its source' : `What changed since ${shortVersion(former.version)}`}</h3>
      <p class="quiet-text">
        {former === null
          ? `${files.length} ${files.length === 1 ? 'file' : 'files'}. This is all that would run.`
          : `${changed} of ${compared.length} files. Unchanged ones come last.`}
      </p>
      <ul class="source-files">
        {compared.map((file) => (
          <li key={file.path}>
            <File file={file} length={lengths.get(file.path) ?? null} isNew={former === null} />
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
}: {
  readonly file: ComparedFile;
  /** Of the file, `null` where it is gone. */
  readonly length: number | null;
  readonly isNew: boolean;
}) {
  const open = useSignal(false);
  return (
    <details class="source-file" onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>
        <code>{file.path}</code>
        <span class="quiet-text">
          {!isNew && <span class={file.change === 'same' ? 'tag' : 'tag accent'}>{CHANGES[file.change]}</span>}{' '}
          {length !== null && sizeText(length)}
        </span>
      </summary>
      {open.value && <FileText file={file} isNew={isNew} />}
    </details>
  );
}

function FileText({ file: { path, change, lines }, isNew }: { readonly file: ComparedFile; readonly isNew: boolean }) {
  const shown = useSignal(LINES);
  if (lines === null) return <p class="quiet-text source-none">It is no text, or too long to be shown.</p>;
  if (lines.length === 0) return <p class="quiet-text source-none">It is empty.</p>;
  const isDiff = !isNew && change === 'changed';
  const runs: readonly Run[] = isDiff ? runsOf(lines) : [{ folded: false, lines }];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
    <section class="source-text" aria-label={path} tabIndex={0} dir="ltr">
      {firstOf(runs, shown.value).map((run, index) =>
        run.folded ? <Folded key={index} lines={run.lines} /> : <Lines key={index} lines={run.lines} marked={isDiff} />,
      )}
      {lines.length > shown.value && (
        <p class="source-more">
          <Button onClick={() => (shown.value += 10 * LINES)}>
            Show more: {(lines.length - shown.value).toLocaleString('en')} lines are left
          </Button>
        </p>
      )}
    </section>
  );
}

function firstOf(runs: readonly Run[], most: number): Run[] {
  let left = most;
  return runs.flatMap((run) => {
    const lines = run.lines.slice(0, Math.max(0, left));
    left -= run.lines.length;
    return lines.length === 0 ? [] : [{ ...run, lines }];
  });
}

function Folded({ lines }: { readonly lines: readonly Line[] }) {
  const open = useSignal(false);
  if (open.value) return <Lines lines={lines} marked />;
  return (
    <button type="button" class="source-folded" onClick={() => (open.value = true)}>
      {lines.length} unchanged {lines.length === 1 ? 'line' : 'lines'}
    </button>
  );
}

function Lines({ lines, marked }: { readonly lines: readonly Line[]; readonly marked: boolean }) {
  return (
    <pre>
      {lines.map(({ kind, text }, index) => (
        <span key={index} class={`source-line ${marked ? kind : ''}`}>
          {marked && kind !== 'same' && <span class="only-read">{SAID[kind]}</span>}
          {marked && <span aria-hidden="true">{MARKS[kind]} </span>}
          {visibleText(text)}
          {'\n'}
        </span>
      ))}
    </pre>
  );
}
