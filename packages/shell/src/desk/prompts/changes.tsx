// What is new in a version, in the words of its publisher.
import { shortVersion } from '../../design/words.ts';

interface ChangesProps {
  readonly version: string;
  /** Plain text with line breaks. */
  readonly changes: string | null;
}

export function Changes({ version, changes }: ChangesProps) {
  if (changes === null) return null;
  return (
    <>
      <h3>What’s new in {shortVersion(version)}</h3>
      <p class="changes">{changes}</p>
    </>
  );
}
