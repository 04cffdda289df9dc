// The file that says what an export contains, and what it does not.

interface Facts {
  readonly origin: string;
  readonly accountName: string;
  readonly now: Date;
  readonly volumes: boolean;
}

const IN_VOLUMES = `apps/<app>/volume/                 what the app's backend keeps in its volume, also of apps that you removed. The
                                   backend was stopped while it was read. Names have %XX for bytes that are not
                                   plain text. From a virtual machine it is a disk image, volume.ext4: mount it
                                   on Linux, or open it with 7-Zip
apps/<app>/volume-left-out.jsonl   what is missing of it, and why: devices, links that lead out of it, or all of it
                                   when its machine could not be reached
`;

const NO_VOLUMES = `- volumes: what the backends of apps keep there. You chose to leave them out; storage.json lists the volumes.
`;

export function readme({ origin, accountName, now, volumes }: Facts): string {
  return `The account ${accountName} at ${origin}
Downloaded ${now.toISOString()}

JSON files have the members of the platform's API (openapi.json in its source); .jsonl files have one item on each line and
are split into parts of one megabyte. Read while the platform was running, one list after the other: what
changed meanwhile may be in one file and not in another.

account.json                       name, registration, plan
passkeys.json                      public keys and counters; private keys never leave your devices
recipient.json                     the key for which apps encrypt for you, sealed for your passkeys: only they open it
sessions.json                      open sessions
command-lines.json                 machines whose ./platform is signed in
connections.json                   clients outside that may use your tools, and what they may do
web-search.json                    which agents may search the web without asking you
tool-calls-*.jsonl                 which app or client used which tool, and what came of it
tool-proposals-*.jsonl             what was proposed to you, and what came of it
contacts-*.jsonl                   the people in your contacts
wallet.json                        your wallet: entries, receipts and policies. ./platform wallet verify --export reads it
wallet-proposals-*.jsonl           what apps proposed to it
collections/<id>/collection.json   a collection of yours: its name, with whom you share it, and which apps use it
collections/<id>/items-*.jsonl     its items, each with the file beside it that holds its bytes
collections/<id>/items/<number>    those bytes
collections-of-others.json         collections that others share with you
files-*.jsonl                      your files: name, type, size, the file that holds the bytes, and which apps have it
files/<name>                       those bytes. Names that some disks refuse are written with %XX, or with a number
apps/<app>/files-*.jsonl           the same of files that the app keeps for itself, and whom it opened them to
apps/<app>/files/<name>            their bytes
files-of-others-*.jsonl            files that others opened to you; their bytes are not yours, and not in here
apps-*.jsonl                       installed apps, with the one that is your home screen
home.json                          the order of the tiles on it, and which are pinned
made-apps.json                     apps that your apps made for you, those that wait for you, errors of their pages
made-apps/<draft>.tgz              those that wait, as packages
apps/<app>/permissions.json        what the app may do
apps/<app>/public.json             its internet address, routes and ports
apps/<app>/search-*.jsonl          its entries in your search: id, title, kind, url
apps/<app>/workflows-*.jsonl       its workflow runs, with inputs, results and history
notifications-*.jsonl              your notifications
notification-settings.json         which of them reach you, and how
push-subscriptions.json            browsers that get web push
schedules-*.jsonl                  your schedules
secrets.json                       names and uses of your secrets
ai.json                            your AI providers, and what your apps used this month
storage.json                       volumes and packages, with their sizes
published/<app>/<version>.tgz      packages that you published, as uploaded
${volumes ? IN_VOLUMES : ''}
Not in here:
${volumes ? '' : NO_VOLUMES}- what apps keep in object storage, and what their pages keep in your browser. Use what each app offers to export, or ask
  the operator for a copy.
- values of secrets and keys of AI providers: the platform never gives them out.
- the text of search entries: the platform keeps only its words.
- logs of backends: they stay on their machines. Settings shows them.
`;
}
