// `npm start`: makes the checkout ready, then becomes the platform under Node 24.
// Only syntax that old Node versions read, so that they answer with a sentence, not a syntax error.

var major = Number(process.versions.node.split('.')[0]);
if (major < 18) {
  process.stderr.write(`Node ${process.versions.node} is too old: install Node 20 or later, then run npm start.\n`);
  process.exitCode = 1;
} else {
  import('./setup/commands.mjs').then((commands) => commands.start(process.argv.slice(2)));
}
