// `platform messaging-bridge`: the messaging bridge alone, on a machine of its own, such as that of the homeserver.
import { type Command, UsageError } from '../command.ts';
import { configuration } from '../local/configuration.ts';
import { MemberLog } from '../members/member-log.ts';
import { serveOwnMetrics } from '../process/metrics.ts';
import { requireFreePort, runUntilStopped, Started, stopSignals } from '../process/running.ts';
import { paint, say } from '../terminal/terminal.ts';
import { bridgeConfig } from './config.ts';
import { bridgeListeners } from './listeners.ts';
import { bridgeMetrics, startBridgeProcess } from './start-bridge.ts';

export const messagingBridgeCommand: Command = {
  summary: 'run the messaging bridge alone, beside a homeserver on another machine',
  usage: `Usage: ./platform messaging-bridge

Runs the messaging bridge until Ctrl-C or SIGTERM, for a platform on another machine. It needs the same
PLATFORM_MESSAGING_BRIDGE_URL, PLATFORM_MESSAGING_BRIDGE_TOKEN and PLATFORM_MESSAGING_SERVER_NAME as core, and
PLATFORM_MESSAGING_HOMESERVER_URL, PLATFORM_MESSAGING_REGISTRATION_FILE, PLATFORM_MESSAGING_BRIDGE_LISTEN and
PLATFORM_MESSAGING_STORE_DIR of its own. Where a homeserver is configured, \`./platform start\` runs the bridge beside core.
docs/operations/messaging.md describes it.`,
  async run(args) {
    if (args.length > 0) throw new UsageError('./platform messaging-bridge takes no arguments.');
    const config = configuration();
    const bridge = bridgeConfig(config);
    const log = new MemberLog(config.logLevel);
    const stopRequested = stopSignals();
    const started = new Started();
    const running = runUntilStopped(started, async () => {
      for (const { variable, host, port } of bridgeListeners(config)) await requireFreePort(variable, host, port);
      const metrics = await serveOwnMetrics('messaging bridge', bridgeMetrics, config, started);
      const { close, port } = await startBridgeProcess(bridge, log.log, metrics);
      started.add(close);
      greet(bridge, port);
      return { why: await stopRequested, code: 0 };
    });
    return running.finally(() => log.close());
  },
};

function greet({ serverName, homeserver, folder, listen }: ReturnType<typeof bridgeConfig>, port: number): void {
  const lines = [
    '',
    `  ${paint('bold', 'The messaging bridge is running.')}`,
    '',
    `  Server name  ${serverName}`,
    `  Homeserver   ${paint('cyan', homeserver.origin)}`,
    `  Listens at   ${listen.host} port ${port}`,
    `  Store        ${folder}`,
    '',
  ];
  say(lines.join('\n'));
}
