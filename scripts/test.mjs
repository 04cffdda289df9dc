// `npm test`: makes the checkout ready, then runs the tests under Node 24.
// Only syntax that old Node versions read, so that they answer with a sentence, not a syntax error.

var major = Number(process.versions.node.split('.')[0]);
if (major < 18) {
  process.stderr.write(`Node ${process.versions.node} is too old: install Node 18 or later, then run npm test.\n`);
  process.exitCode = 1;
} else {
  void import('./setup/commands.mjs').then((commands) => commands.test(process.argv.slice(2)));
}
