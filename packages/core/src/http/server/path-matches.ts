// Whether a path is one of a route's pattern, as `/v1/node/packages/:hash`.
export function pathMatches(pattern: string, path: string): boolean {
  const expected = pattern.split('/');
  const actual = path.split('/');
  return (
    expected.length === actual.length &&
    expected.every((segment, index) => segment === actual[index] || (segment.startsWith(':') && actual[index] !== ''))
  );
}
