// The scripts of completion. Each holds all words itself, so that a key press starts no program.
import type { CommandWords } from './words.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export function scriptFor(shell: Shell, commands: readonly CommandWords[]): string {
  return { bash, zsh, fish }[shell](commands);
}

/** Of bash-completion 2, and of bash alone. */
function bash(commands: readonly CommandWords[]): string {
  const cases = commands.map(
    ({ name, actions, options }) => `    ${name}) words='${[...actions, ...options].join(' ')}' ;;`,
  );
  return `# Completion of platform for bash.
_platform() {
  local words word=\${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${commands.map(({ name }) => name).join(' ')} help version --help --version'
  else case \${COMP_WORDS[1]} in
    help) words='${commands.map(({ name }) => name).join(' ')}' ;;
${cases.join('\n')}
  esac fi
  # With the shell's own names of files where nothing of ours fits.
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _platform platform ./platform
`;
}

function zsh(commands: readonly CommandWords[]): string {
  const described = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`);
  const cases = commands.map(
    ({ name, actions, options }) => `    ${name}) compadd -- ${[...actions, ...options].join(' ')}; _files ;;`,
  );
  return `#compdef platform ./platform
# Completion of platform for zsh.
_platform() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case \${words[2]} in
    help) _describe command commands ;;
${cases.join('\n')}
    *) _files ;;
  esac
}
if [ "$funcstack[1]" = _platform ]; then _platform "$@"; else compdef _platform platform ./platform; fi
`;
}

function fish(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ name, summary, actions, options }) => [
    `complete -c platform -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
    ...actions.map((action) => `complete -c platform -n '__fish_seen_subcommand_from ${name}' -a ${action}`),
    ...options.map((option) => `complete -c platform -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`),
  ]);
  return `# Completion of platform for fish.\n${lines.join('\n')}\n`;
}

/** In single quotes, for zsh and fish. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`;
}
