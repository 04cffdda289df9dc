// Small parts that every screen uses: buttons, notes, waiting.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon, type IconName } from './icons.tsx';

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick: () => void;
  readonly kind?: 'primary' | 'plain' | 'quiet' | 'danger';
  readonly icon?: IconName;
  /** Shows that its work is under way and takes no further press. */
  readonly busy?: boolean;
  readonly disabled?: boolean;
}

export function Button({ children, onClick, kind = 'plain', icon, busy = false, disabled = false }: ButtonProps) {
  return (
    <button
      type="button"
      class={`button ${kind}`}
      aria-disabled={busy || disabled}
      aria-busy={busy}
      onClick={() => {
        if (!busy && !disabled) onClick();
      }}
    >
      {busy ? <Spinner /> : icon !== undefined && <Icon name={icon} size={18} />}
      <span>{children}</span>
    </button>
  );
}

interface IconButtonProps {
  readonly icon: IconName;
  /** What it does, for screen readers and as a tooltip. */
  readonly label: string;
  readonly onClick: () => void;
}

export function IconButton({ icon, label, onClick }: IconButtonProps) {
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

export function Spinner() {
  return <span class="spinner" aria-hidden="true" />;
}

interface NoteProps {
  readonly tone: 'info' | 'danger' | 'warning' | 'success';
  readonly children: ComponentChildren;
}

/** A message in place. Failures are read out at once, the rest when the reader gets there. */
export function Note({ tone, children }: NoteProps) {
  const icon = tone === 'success' ? 'check' : tone === 'info' ? 'info' : 'warning';
  return (
    <div class={`note ${tone}`} role={tone === 'danger' ? 'alert' : 'status'}>
      <Icon name={icon} size={18} />
      <div>{children}</div>
    </div>
  );
}

/** Grey lines where a list will be, once waiting is long enough to notice. */
export function Skeleton({ lines = 3, label }: { readonly lines?: number; readonly label: string }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="skeleton" role="status">
      <span class="only-read">{label}</span>
      {shown && Array.from({ length: lines }, (_, line) => <span key={line} class="skeleton-line" />)}
    </div>
  );
}

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}

export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div class="empty">
      <span class="empty-picture">
        <Icon name={icon} size={28} />
      </span>
      <p class="empty-title">{title}</p>
      {children !== undefined && <div class="empty-text">{children}</div>}
    </div>
  );
}
