// Every command of the command line, by name, and the file that runs it. Each is loaded when it is used: `platform ps`
// needs neither the Runtime nor a bundler, and should not wait for them.
import type { Command } from './command.ts';

export const commands = {
  setup: async () => (await import('./start/setup.ts')).setupCommand,
  start: async () => (await import('./start/start.ts')).startCommand,
  doctor: async () => (await import('./doctor/doctor.ts')).doctorCommand,
  init: async () => (await import('./init/init.ts')).initCommand,
  sdk: async () => (await import('./publish/sdk.ts')).sdkCommand,
  package: async () => (await import('./publish/package.ts')).packageCommand,
  publish: async () => (await import('./publish/publish.ts')).publishCommand,
  unpublish: async () => (await import('./publish/unpublish.ts')).unpublishCommand,
  dev: async () => (await import('./dev/dev.ts')).devCommand,
  login: async () => (await import('./remote/login.ts')).loginCommand,
  logout: async () => (await import('./remote/login.ts')).logoutCommand,
  whoami: async () => (await import('./remote/login.ts')).whoamiCommand,
  ps: async () => (await import('./apps/ps.ts')).psCommand,
  logs: async () => (await import('./apps/logs.ts')).logsCommand,
  stop: async () => (await import('./apps/start-stop.ts')).stopCommand,
  uninstall: async () => (await import('./apps/uninstall.ts')).uninstallCommand,
  disk: async () => (await import('./disk/disk.ts')).diskCommand,
  clock: async () => (await import('./doctor/clock.ts')).clockCommand,
  recover: async () => (await import('./account/recover.ts')).recoverCommand,
  account: async () => (await import('./account/account.ts')).accountCommand,
  wallet: async () => (await import('./wallet/wallet.ts')).walletCommand,
  search: async () => (await import('./search/search.ts')).searchCommand,
  messaging: async () => (await import('./messaging/messaging.ts')).messagingCommand,
  node: async () => (await import('./node/node.ts')).nodeCommand,
  'messaging-bridge': async () => (await import('./messaging-bridge/messaging-bridge.ts')).messagingBridgeCommand,
  ingress: async () => (await import('./ingress/ingress.ts')).ingressCommand,
  completion: async () => (await import('./completion/completion.ts')).completionCommand,
} as const satisfies Record<string, () => Promise<Command>>;
