// Every command of the command line, by name. Each is loaded when it is used: `platform ps` needs neither the Runtime
// nor a bundler, and should not wait for them.
import type { Command } from './command.ts';

export const commands = {
  setup: async () => (await import('./setup.ts')).setupCommand,
  start: async () => (await import('./start.ts')).startCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  init: async () => (await import('./init.ts')).initCommand,
  sdk: async () => (await import('./sdk.ts')).sdkCommand,
  package: async () => (await import('./package.ts')).packageCommand,
  publish: async () => (await import('./publish.ts')).publishCommand,
  unpublish: async () => (await import('./disk.ts')).unpublishCommand,
  dev: async () => (await import('./dev.ts')).devCommand,
  login: async () => (await import('./login.ts')).loginCommand,
  logout: async () => (await import('./login.ts')).logoutCommand,
  whoami: async () => (await import('./login.ts')).whoamiCommand,
  ps: async () => (await import('./ps.ts')).psCommand,
  logs: async () => (await import('./logs.ts')).logsCommand,
  stop: async () => (await import('./start-stop.ts')).stopCommand,
  uninstall: async () => (await import('./disk.ts')).uninstallCommand,
  disk: async () => (await import('./disk.ts')).diskCommand,
  recover: async () => (await import('./recover.ts')).recoverCommand,
  account: async () => (await import('./account-manage.ts')).accountCommand,
  search: async () => (await import('./search.ts')).searchCommand,
  node: async () => (await import('./node.ts')).nodeCommand,
  ingress: async () => (await import('./ingress.ts')).ingressCommand,
} as const satisfies Record<string, () => Promise<Command>>;
