// Added by the platform to apps that apps make. It tells the platform what goes wrong in this page, and nothing else, so that the
// app that made it can mend it. Only the shell has this page in a frame.
(() => {
  let left = 20;

  function tell(message, { file = null, line = null, column = null, stack = null } = {}) {
    if (left === 0) return;
    left -= 1;
    const error = { message: String(message).slice(0, 2000), file, line, column, stack };
    parent.postMessage({ type: 'platform.page-error', version: 1, error }, '*');
  }

  function stackOf(error) {
    return typeof error?.stack === 'string' ? error.stack.replaceAll(location.origin, '').slice(0, 4000) : null;
  }

  function pathOf(address) {
    return typeof address === 'string' && address !== '' ? address.replace(location.origin, '').slice(0, 300) : null;
  }

  addEventListener(
    'error',
    ({ target, message, filename, lineno, colno, error }) => {
      if (target !== window) return tell('This file could not be loaded.', { file: pathOf(target.src ?? target.href) });
      return tell(message, { file: pathOf(filename), line: lineno, column: colno, stack: stackOf(error) });
    },
    true,
  );
  addEventListener('unhandledrejection', ({ reason }) =>
    tell(`Nothing handles this: ${reason?.message ?? reason}`, { stack: stackOf(reason) }),
  );
  addEventListener(
    'securitypolicyviolation',
    ({ violatedDirective, blockedURI, sourceFile, lineNumber, columnNumber }) =>
      tell(`The platform blocks this (${violatedDirective}): ${blockedURI}`, {
        file: pathOf(sourceFile),
        line: lineNumber,
        column: columnNumber,
      }),
  );

  const write = console.error;
  console.error = (...values) => {
    write.apply(console, values);
    const stack = values.map(stackOf).find((one) => one !== null) ?? null;
    tell(values.map((value) => value?.message ?? String(value)).join(' '), { stack });
  };
})();
