// `platform unpublish`: a version leaves the Store.
import { deleteAnyVersion } from '@platform/core/operator';
import { type Command, UsageError } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { withLocalCore } from '../local/local-core.ts';
import { paint, say } from '../terminal/terminal.ts';

export const unpublishCommand: Command = {
  summary: 'delete a version from the Store that nobody has installed',
  usage: `Usage: ./platform unpublish <app>@<version>

Deletes the version and its package, of any publisher, unless an account has it installed. The platform need not be
running.`,
  async run(args) {
    const [name = '', ...rest] = args;
    const [appId = '', version = ''] = name.split(/@(.*)/);
    if (appId === '' || version === '' || rest.length > 0)
      throw new UsageError('Name one version: ./platform unpublish <app>@<version>');
    return withLocalCore(platformConfiguration(), async (context) => {
      await deleteAnyVersion(context, { appId, version });
      say(`${paint('green', '✓')} ${appId} ${version} is no longer in the Store.`);
      return 0;
    });
  },
};
