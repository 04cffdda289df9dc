// Whether the stream of live events is open; the bar says so when it is not.
import { signal } from '@preact/signals';

export const live = signal(true);
