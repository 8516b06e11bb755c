// Generates a page from `efs --help` of each command.

import type { Command } from 'commander';

/** Returns the commands with an action, in order, each after its parents. */
function leavesOf(command: Command): Command[] {
  const shown = command.commands.filter((child) => child.name() !== 'help');
  if (shown.length === 0) return [command];
  // A parent command with its own flags also has an action.
  const isOwn = command.parent !== null && command.options.length > 0;
  return [...(isOwn ? [command] : []), ...shown.flatMap(leavesOf)];
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

/** Escapes vertical bars, which end cells of tables. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function describe(command: Command): string {
  const help = command.createHelp();
  const words = help
    .visibleArguments(command)
    .map((argument) => [
      argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
      help.argumentDescription(argument),
    ]);
  const options = help
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help')
    .map((option) => [help.optionTerm(option), help.optionDescription(option)]);
  const rows = [...words, ...options].map(
    ([term = '', said = '']) => `| \`${term.replaceAll('|', '\\|')}\` | ${cell(said)} |`,
  );
  const table = rows.length === 0 ? [] : ['', '| | |', '| --- | --- |', ...rows];
  const said = command.description() === '' ? '' : `: ${cell(command.description())}`;
  return [`### ${nameOf(command)}`, `\`${help.commandUsage(command)}\`${said}`, ...table].join(
    '\n',
  );
}

export function commandReference(program: Command): string {
  const options = describe(program).split('\n').slice(2).join('\n');
  const heading = '### Options of every command';
  return [`${heading}\n${options}`, ...leavesOf(program).map(describe)].join('\n\n');
}
