// `efs completion`: scripts by which shells complete commands and flags, generated from commander's
// command tree, so that they always match it.

import { Argument, type Command } from 'commander';

interface Entry {
  /** Command names, separated by spaces: `bucket create`; '' for the program itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly flags: readonly Word[];
}

interface Word {
  readonly word: string;
  readonly about: string;
}

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

const help = `
  bash: efs completion bash > ~/.local/share/bash-completion/completions/efs
  zsh:  efs completion zsh > "\${fpath[1]}/_efs", and then compinit
  fish: efs completion fish > ~/.config/fish/completions/efs.fish
Only for this session: source <(efs completion bash)`;

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print completions of commands and flags for a shell')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText('after', help)
    .action((shell: Shell) => {
      process.stdout.write(scriptOf[shell](entriesOf(program, '')));
    });
}

function entriesOf(command: Command, path: string): Entry[] {
  const shown = command.createHelp();
  const options = [
    ...shown.visibleOptions(command),
    ...(path === '' ? [] : globalOptions(command)),
  ];
  const flags = options.flatMap(({ short, long, description }) =>
    [short, long].flatMap((word) => (word ? [{ word, about: description }] : [])),
  );
  const commands = command.commands.map((inner) => ({
    word: inner.name(),
    about: inner.description(),
  }));
  const inner = command.commands.flatMap((one) =>
    entriesOf(one, path === '' ? one.name() : `${path} ${one.name()}`),
  );
  return [{ path, commands, flags }, ...inner];
}

/** Global options are also accepted after the command's name. */
function globalOptions(command: Command) {
  let program = command;
  while (program.parent !== null) program = program.parent;
  return program.options.filter(({ long }) => long !== '--version');
}

const words = (list: readonly Word[]) => list.map(({ word }) => word).join(' ');

/** Generates a shell case per command path, such as `bucket create`. */
function cases(entries: readonly Entry[], body: (entry: Entry) => string): string {
  return entries.map((entry) => `    '${entry.path}') ${body(entry)} ;;`).join('\n');
}

function bash(entries: readonly Entry[]): string {
  return `# bash completion of efs
_efs() {
  local word=\${COMP_WORDS[COMP_CWORD]} path='' commands flags i
  _efs_words ''
  for ((i = 1; i < COMP_CWORD; i++)); do
    case " $commands " in
      *" \${COMP_WORDS[i]} "*) path="\${path:+$path }\${COMP_WORDS[i]}"; _efs_words "$path" ;;
    esac
  done
  case $word in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) [[ -n $commands ]] && COMPREPLY=($(compgen -W "$commands" -- "$word")) ;;
  esac
}
_efs_words() {
  case $1 in
${cases(entries, (entry) => `commands='${words(entry.commands)}' flags='${words(entry.flags)}'`)}
  esac
}
complete -o default -F _efs efs
`;
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

function zsh(entries: readonly Entry[]): string {
  const described = (list: readonly Word[]) =>
    list.map(({ word, about }) => quoted(`${word.replaceAll(':', '\\:')}:${about}`)).join(' ');
  return `#compdef efs
_efs_words() {
  case $1 in
${cases(entries, (entry) => `commands=(${described(entry.commands)}) flags=(${described(entry.flags)})`)}
  esac
}
_efs() {
  local place='' word
  local -a commands flags
  _efs_words ''
  for word in \${words[2,CURRENT-1]}; do
    if (( \${commands[(I)$word:*]} )); then
      place="\${place:+$place }$word"
      _efs_words "$place"
    fi
  done
  if [[ \${words[CURRENT]} == -* ]]; then _describe flag flags
  elif (( \${#commands} )); then _describe command commands
  else _files
  fi
}
if [[ \${funcstack[1]} == _efs ]]; then _efs "$@"; else compdef _efs efs; fi
`;
}

function fish(entries: readonly Entry[]): string {
  const condition = (path: string) =>
    path === '' ? '__fish_use_subcommand' : path.split(' ').map(seen).join('; and ');
  const lines = entries.flatMap(({ path, commands, flags }) => [
    ...commands.map(({ word, about }) => {
      const isOpen = `${condition(path)}; and not ${seen(words(commands))}`;
      const when = path === '' ? condition(path) : isOpen;
      return `complete -c efs -f -n ${quoted(when)} -a ${word} -d ${quoted(about)}`;
    }),
    ...flags.map(({ word, about }) => {
      const name = word.startsWith('--') ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`;
      const when = path === '' ? '' : ` -n ${quoted(condition(path))}`;
      return `complete -c efs${when} ${name} -d ${quoted(about)}`;
    }),
  ]);
  return `# fish completion of efs\n${lines.join('\n')}\n`;
}

const seen = (names: string) => `__fish_seen_subcommand_from ${names}`;

const scriptOf: Readonly<Record<Shell, (entries: readonly Entry[]) => string>> = {
  bash,
  zsh,
  fish,
};
