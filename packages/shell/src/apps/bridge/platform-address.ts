// Which addresses belong to the platform itself: those open in the shell, never as links.

/**
 * @param shellOrigin where the shell is served
 * @param appOrigin of any app: `<scheme>://<app-id>--<opaque>.<apps domain>`
 * @returns whether the address lies on the shell's host or at or below the apps domain, on whatever port
 */
export function isPlatformAddress(url: string, shellOrigin: string, appOrigin: string): boolean {
  const host = hostOf(url);
  const appHost = hostOf(appOrigin);
  const appsDomain = appHost.slice(appHost.indexOf('.') + 1);
  return host === hostOf(shellOrigin) || host === appsDomain || host.endsWith(`.${appsDomain}`);
}

/** Without the dot at the end, which names the same host. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/\.$/, '');
}
