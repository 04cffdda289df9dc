// `platform messaging …`: the operator connects the platform with a homeserver of Matrix.
import type { PlatformConfig } from '@platform/core/config';
import { type Command, UsageError } from '../command.ts';
import { type Verdict, worstOf } from '../doctor/finding.ts';
import { messagingFindings } from '../doctor/messaging/messaging-findings.ts';
import { report } from '../doctor/report.ts';
import { settingsToCheck } from '../local/configuration.ts';
import { findRegistration, newRegistration, writeRegistration } from '../messaging-bridge/registration.ts';
import { say } from '../terminal/terminal.ts';
import { homeserverSettings, platformSettings } from './settings-to-paste.ts';

export const messagingCommand: Command = {
  summary: 'connect messages with a Matrix homeserver',
  usage: `Usage: ./platform messaging init

Writes the registration of the messaging bridge (PLATFORM_MESSAGING_REGISTRATION_FILE) unless it is there, prints the settings for the
homeserver and for the platform, and checks what runs: that core reaches the bridge, that the bridge and the homeserver
(PLATFORM_MESSAGING_HOMESERVER_URL) reach each other, and that other servers and clients find the homeserver. Run it again after
each step; \`./platform doctor\` checks the same. docs/operators.md, “Messages to other servers”, goes through it.

Exits with 1 while something is amiss.`,
  async run([action = '', ...rest]) {
    if (action !== 'init' || rest.length > 0) throw new UsageError('Usage: ./platform messaging init');
    return init(settingsToCheck());
  },
};

async function init(config: PlatformConfig): Promise<number> {
  const { registrationFile, homeserverUrl } = config.messagingBridge;
  if (findRegistration(registrationFile).kind === 'missing') {
    writeRegistration(registrationFile, newRegistration(config));
    say(`Wrote ${registrationFile}. Keep it secret: whoever has it can act as every account.`);
  } else say(`${registrationFile} is there, and stays as it is.`);
  say(`\nIn homeserver.yaml of Synapse:\n\n${homeserverSettings(config)}`);
  say(`In the environment of the platform:\n\n${platformSettings(config)}`);
  if (homeserverUrl === null) {
    say('Set these, start the homeserver, and run ./platform messaging init again: it then checks the connection.');
    return 0;
  }
  const verdicts = new Set<Verdict>();
  for (const finding of await messagingFindings(config)) {
    report(finding);
    verdicts.add(finding.verdict);
  }
  return worstOf(verdicts) === 'bad' ? 1 : 0;
}
