// Checks the form of an account name while the person types it.
// Core decides, with the list of reserved names; this only saves a round trip.

/** @returns what is wrong with a trimmed, lower-case name, or `null` */
export function accountNameProblem(name: string): string | null {
  if (name === '') return 'Enter a name.';
  if (!/^[a-z]/.test(name)) return 'The name must start with a letter.';
  if (!/^[a-z0-9-]*$/.test(name)) return 'Use only the letters a to z, digits and hyphens.';
  if (/--|-$/.test(name)) return 'No leading, trailing or double hyphens.';
  if (name.length < 3) return 'The name needs at least 3 characters.';
  if (name.length > 32) return 'The name can have at most 32 characters.';
  return null;
}
