// Paths of files in packages.
import * as z from 'zod';
import { readableLine } from './text.ts';

/** Bytes. */
export const LONGEST_PACKAGE_PATH = 512;

/** A path relative to `frontend/` or `workload/`: plain segments, no dot segments, no dotfiles. */
export const packagePath = z
  .string()
  .min(1)
  .max(LONGEST_PACKAGE_PATH)
  .regex(/^(?!.*(^|\/)\.)[^\\:*?"<>|]+$/u, 'must be a plain relative path')
  .regex(...readableLine)
  .refine(
    (path) => !path.startsWith('/') && !path.endsWith('/') && !path.includes('//'),
    'must be a plain relative path',
  );
