// `platform completion`: prints what a shell needs to complete the words of the command line.
import { type Command, UsageError } from '../command.ts';
import { say } from '../terminal/terminal.ts';
import { SHELLS, type Shell, scriptFor } from './scripts.ts';
import { wordsOf } from './words.ts';

export const completionCommand: Command = {
  summary: 'print the completion of commands for your shell',
  usage: `Usage: ./platform completion ${SHELLS.join('|')}

  bash  ./platform completion bash > ~/.local/share/bash-completion/completions/platform
  zsh   ./platform completion zsh > a folder of your $fpath, as _platform
  fish  ./platform completion fish > ~/.config/fish/completions/platform.fish

Completes commands, their actions and their options, for \`platform\` and \`./platform\`. Print it again after an update.`,
  async run([shell, ...rest]) {
    if (!isShell(shell) || rest.length > 0)
      throw new UsageError(`Name one shell: ./platform completion ${SHELLS.join('|')}`);
    // Loaded here, as the table names this command too.
    const { commands } = await import('../commands.ts');
    const all = await Promise.all(
      Object.entries(commands).map(async ([name, load]) => ({ name, ...wordsOf(name, await load()) })),
    );
    say(scriptFor(shell, all).trimEnd());
    return 0;
  },
};

function isShell(name: string | undefined): name is Shell {
  return SHELLS.some((shell) => shell === name);
}
