// Short messages at the edge of the page, read out by screen readers. The important ones stay until dismissed.
import { signal } from '@preact/signals';

export interface Toast {
  readonly id: number;
  readonly title: string;
  readonly body: string;
  readonly tone: 'plain' | 'success' | 'danger';
  /** Read out at once and kept until dismissed. */
  readonly urgent: boolean;
  readonly isNotification: boolean;
  /** Goes after so many milliseconds at the latest. */
  readonly lifeMs: number;
  readonly action: { readonly label: string; readonly run: () => void } | null;
}

const SHOWN = 3;
const LIFE_MS = 7_000;

export const toasts = signal<readonly Toast[]>([]);
/** While a pointer or the focus is on a toast none goes away. */
export const toastsHeld = signal(false);
let lastId = 0;

export function dismissToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** The list of notifications is open: what it shows needs no message beside it. */
export function dismissNotificationToasts(): void {
  toasts.value = toasts.value.filter(({ isNotification }) => !isNotification);
}

function expire(id: number): void {
  if (toastsHeld.value) setTimeout(() => expire(id), LIFE_MS);
  else dismissToast(id);
}

/** @returns by which it can be dismissed */
export function showToast(toast: Partial<Omit<Toast, 'id'>> & { readonly title: string }): number {
  lastId += 1;
  const id = lastId;
  const shown: Toast = {
    body: '',
    tone: 'plain',
    urgent: false,
    isNotification: false,
    lifeMs: LIFE_MS,
    action: null,
    ...toast,
    id,
  };
  toasts.value = [...toasts.value, shown].slice(-SHOWN);
  if (!shown.urgent) setTimeout(() => expire(id), Math.min(LIFE_MS, shown.lifeMs));
  return id;
}
