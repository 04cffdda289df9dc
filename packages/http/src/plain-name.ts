/** The name of a field as servers behind CGI-like interfaces read it, which take every mark for the same: in lower case. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
}
