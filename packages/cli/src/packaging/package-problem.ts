// What keeps a folder from becoming a package: every problem at once, each a line its author can act on.

export class PackageProblem extends Error {
  override readonly name = 'PackageProblem';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}
