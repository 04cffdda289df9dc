// The permissions of what the Runtime makes below the data folder. Nothing there is for other users of the machine. As
// root, workloads run as users of their own: those get through folders that they cannot list, and may read what they are
// given. As an ordinary user everything is one user's.

const asRoot = process.getuid?.() === 0;

export const modes = {
  /** A folder on the way to something that a workload is given: to be entered, not to be listed. */
  passage: asRoot ? 0o711 : 0o700,
  /** A folder that workloads are given, and a program in it. */
  given: asRoot ? 0o755 : 0o700,
  /** A file in it. */
  givenFile: asRoot ? 0o644 : 0o600,
} as const;
