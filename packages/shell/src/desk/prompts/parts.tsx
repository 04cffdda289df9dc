// Parts that every prompt has: the requesting app, and the two answers.
import type { ComponentChildren } from 'preact';
import { Button } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { shortVersion } from '../../design/words.ts';
import type { Asker } from './ask.tsx';

/** The requesting app; nothing when the person started the action in the shell's own pages. Its origin ends the dialog. */
export function AskerLine({ asker, wants }: { readonly asker: Asker | null; readonly wants: string }) {
  if (asker === null) return null;
  return (
    <p class="prompt-asker">
      <strong>{asker.name}</strong>
      {asker.builtIn && ', a part of the platform,'} {wants}
    </p>
  );
}

/** Exactly who asks, whatever an app calls itself. */
export function AskerOrigin({ asker }: { readonly asker: Asker | null }) {
  // A backend asks while no page of its app is open.
  if (asker === null || asker.origin === '') return null;
  return (
    <p class="prompt-from">
      Address of {asker.name} here: <span class="origin">{asker.origin}</span>
    </p>
  );
}

interface DecisionProps {
  readonly no: string;
  readonly yes: ComponentChildren;
  readonly danger?: boolean;
  readonly busy: boolean;
  /** The approval waits for something else that the person must do first. */
  readonly disabled?: boolean;
  readonly onNo: () => void;
  readonly onYes: () => void;
}

/** The refusal comes first in order and has the focus; the approval never does by itself. */
export function Decision({ no, yes, danger = false, busy, disabled = false, onNo, onYes }: DecisionProps) {
  return (
    <div class="decision">
      <button type="button" class="button plain" data-default aria-disabled={busy} onClick={() => !busy && onNo()}>
        {no}
      </button>
      <Button kind={danger ? 'danger' : 'primary'} busy={busy} disabled={disabled} onClick={onYes}>
        {yes}
      </Button>
    </div>
  );
}

interface PublisherProps {
  readonly name: string;
  /** Absent where the version is named elsewhere. */
  readonly version?: string;
}

export function Publisher({ name, version }: PublisherProps) {
  return (
    <p class="prompt-publisher">
      {name === 'platform' ? (
        <span class="tag trusted">
          <Icon name="shield" size={14} />
          Comes with the platform
        </span>
      ) : (
        <span>Published by {name}</span>
      )}
      {version !== undefined && <span>Version {shortVersion(version)}</span>}
    </p>
  );
}
