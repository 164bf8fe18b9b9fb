/**
 * Completion scripts for bash, zsh and fish: commands, options and values from closed sets.
 *
 * They are self-contained, start no program, and evaluate nothing that was typed, because it may be the secret (P18).
 */
import { type Command, commonOptions, type OptionUsage } from './command.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type ShellName = (typeof shells)[number];

/** A command, or the first words that several commands share. */
interface Node {
  /** Such as `account token`; empty for `mayfly` itself. */
  readonly path: string;
  /** The words that may follow, each with a description. */
  readonly next: ReadonlyMap<string, string>;
  readonly command: Command | null;
}

function nodesOf(commands: readonly Command[]): readonly Node[] {
  const starts = commands.flatMap(({ path }) => path.map((_word, index) => path.slice(0, index)));
  const paths = new Set([...starts, ...commands.map(({ path }) => path)].map((path) => path.join(' ')));
  return [...paths].map((path) => {
    const depth = path === '' ? 0 : path.split(' ').length;
    const below = commands.filter((each) => path === '' || `${each.path.join(' ')} `.startsWith(`${path} `));
    const next = new Map<string, string>();
    for (const each of below) {
      const word = each.path[depth];
      if (word === undefined || next.has(word)) continue;
      const isWhole = each.path.length === depth + 1;
      next.set(word, isWhole ? each.summary : `commands that begin with ${word}`);
    }
    return { path, next, command: commands.find((each) => each.path.join(' ') === path) ?? null };
  });
}

function optionsOf(command: Command): readonly (readonly [name: string, usage: OptionUsage])[] {
  return Object.entries({ ...command.options, ...commonOptions });
}

function flagsOf(name: string, { short }: OptionUsage): readonly string[] {
  return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
}

/** Returns the closed sets of argument values, by index. */
function argChoicesOf({ args, choices = {} }: Command): readonly (readonly [number, readonly string[]])[] {
  return args.flatMap((arg, index) => {
    const known = choices[arg.replace(/[[\]]/g, '')];
    return known === undefined ? [] : [[index, known] as const];
  });
}

/** Returns the indexes of the arguments that are files. */
function fileArgsOf({ args }: Command): readonly number[] {
  return args.flatMap((arg, index) => (/^\[?(?:FILE|FOLDER)\]?$/.test(arg) ? [index] : []));
}

const isFile = ({ value }: OptionUsage): boolean => value === 'FILE';

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns the alternatives of a `case`, or a pattern that matches nothing. */
const anyOf = (patterns: readonly string[]): string =>
  patterns.length === 0 ? "''" : patterns.map(quoted).join(' | ');

interface Tables {
  readonly paths: readonly string[];
  /** `path --option`, for options with a value. */
  readonly valued: readonly string[];
  readonly files: readonly string[];
  /** `path --option` with the values of a comma-separated list. */
  readonly lists: readonly (readonly [string, readonly string[]])[];
  /** `path --option` or `path 1` with every allowed value. */
  readonly sets: readonly (readonly [string, readonly string[]])[];
}

function tablesOf(nodes: readonly Node[]): Tables {
  const commands = nodes.flatMap(({ command, path }) => (command === null ? [] : [{ command, path }]));
  const options = commands.flatMap(({ command, path }) =>
    optionsOf(command).flatMap(([name, usage]) =>
      flagsOf(name, usage).map((flag) => ({ place: `${path} ${flag}`, usage })),
    ),
  );
  const args = commands.flatMap(({ command, path }) =>
    argChoicesOf(command).map(([index, choices]) => [`${path} ${index}`, choices] as const),
  );
  const fileArgs = commands.flatMap(({ command, path }) =>
    fileArgsOf(command).map((index) => `${path} ${index}`),
  );
  const closed = options.flatMap(({ place, usage: { choices, isList = false } }) =>
    choices === undefined ? [] : [{ place, choices, isList }],
  );
  const pairs = (isList: boolean) =>
    closed.filter((each) => each.isList === isList).map(({ place, choices }) => [place, choices] as const);
  return {
    paths: nodes.map(({ path }) => path).filter((path) => path !== ''),
    valued: options.filter(({ usage }) => usage.value !== undefined).map(({ place }) => place),
    files: [...options.filter(({ usage }) => isFile(usage)).map(({ place }) => place), ...fileArgs],
    lists: pairs(true),
    sets: [...pairs(false), ...args],
  };
}

/** Locates the cursor in bash and zsh: `typed` is the command, `place` the position within it. */
function findPlace({ paths, valued }: Tables, words: string, first: number, cursor: string): string {
  return `\
  local typed='' place='' known=1 count=0 skip=0 word i
  for ((i = ${first}; i < ${cursor}; i++)); do
    word=\${${words}[i]}
    if [[ $skip == 1 ]]; then skip=0; continue; fi
    if [[ $word == -- ]]; then place='--'; break; fi
    if [[ $word == = ]]; then skip=1; continue; fi
    if [[ $word == -* ]]; then
      place="$typed $word"
      case "$place" in
        ${anyOf(valued)}) skip=1 ;;
        *) place='' ;;
      esac
      continue
    fi
    place=''
    case "$known$typed\${typed:+ }$word" in
      ${anyOf(paths.map((path) => `1${path}`))}) typed="$typed\${typed:+ }$word" ;;
      *) known=0; count=$((count + 1)) ;;
    esac
  done
  if [[ $place != -- ]]; then
    # The value of the option before the cursor, or a word.
    if [[ $skip != 1 ]]; then place="$typed $count"; fi
  fi`;
}

function bashScript(nodes: readonly Node[]): string {
  const tables = tablesOf(nodes);
  const arms = nodes.flatMap(({ path, next, command }) => {
    const options = command === null ? [] : optionsOf(command).map(([name]) => `--${name}`);
    const after = [...next.keys()].join(' ');
    return [`    ${quoted(path)}) after=${quoted(after)}; options=${quoted(options.join(' '))} ;;`];
  });
  return `\
# bash completion for mayfly. To install it: mayfly completion --help
_mayfly() {
  local cur=\${COMP_WORDS[COMP_CWORD]} words='' after='' options='' head=''
  COMPREPLY=()
  if [[ $cur == = ]]; then cur=''; fi
${findPlace(tables, 'COMP_WORDS', 1, 'COMP_CWORD')}
  case "$place" in
    --) compopt -o default 2>/dev/null; return ;;
    ${anyOf(tables.files)})
      if [[ $cur != -* ]]; then compopt -o default 2>/dev/null; return; fi ;;
${tables.sets.map(([place, choices]) => `    ${quoted(place)}) words=${quoted(choices.join(' '))} ;;`).join('\n')}
${tables.lists
  .map(
    ([place, choices]) =>
      `    ${quoted(place)}) if [[ $cur == *,* ]]; then head="\${cur%,*},"; fi; words=${quoted(choices.join(' '))} ;;`,
  )
  .join('\n')}
    ${anyOf(tables.valued)}) return ;;
  esac
  case "$typed" in
${arms.join('\n')}
  esac
  if [[ $cur == -* ]]; then words=$options
  elif [[ -z $words && $known == 1 ]]; then words=$after
  fi
  local each
  for each in $words; do
    if [[ $head$each == "$cur"* ]]; then COMPREPLY+=("$head$each"); fi
  done
}
complete -F _mayfly mayfly
`;
}

/** Joins a word and its description for `_describe`. */
const described = (word: string, words: string): string => quoted(`${word.replaceAll(':', '\\:')}:${words}`);

function zshScript(nodes: readonly Node[]): string {
  const tables = tablesOf(nodes);
  const arms = nodes.map(({ path, next, command }) => {
    const options = command === null ? [] : optionsOf(command);
    const after = [...next].map(([word, words]) => described(word, words));
    const given = options.map(([name, { doc }]) => described(`--${name}`, doc));
    return `    (${quoted(path)}) after=(${after.join(' ')}); options=(${given.join(' ')}) ;;`;
  });
  return `\
#compdef mayfly
# zsh completion for mayfly. To install it: mayfly completion --help
_mayfly() {
  local -a after options
  local cur=\${words[CURRENT]}
${findPlace(tables, 'words', 2, 'CURRENT')}
  case "$place" in
    (--) shift $((\${words[(i)--]})) words; CURRENT=$#words; _normal; return ;;
    (${anyOf(tables.files)})
      if [[ $cur != -* ]]; then _files; return; fi ;;
${tables.sets.map(([place, choices]) => `    (${quoted(place)}) if [[ $cur != -* ]]; then compadd -- ${choices.join(' ')}; return; fi ;;`).join('\n')}
${tables.lists.map(([place, choices]) => `    (${quoted(place)}) _values -s , values ${choices.join(' ')}; return ;;`).join('\n')}
    (${anyOf(tables.valued)}) return 1 ;;
  esac
  case "$typed" in
${arms.join('\n')}
  esac
  if [[ $cur == -* ]]; then _describe -o option options
  elif [[ $known == 1 ]]; then _describe command after
  else return 1
  fi
}
if [[ $funcstack[1] == _mayfly ]]; then _mayfly "$@"; else compdef _mayfly mayfly; fi
`;
}

/** Inside quotes, fish needs quotes and backslashes escaped. */
const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function fishValues({ value, choices, isList }: OptionUsage): string {
  if (value === undefined) return '';
  if (value === 'FILE') return ' -r -F';
  if (choices === undefined) return ' -x';
  return isList
    ? ` -x -a '(__fish_append , ${choices.join(' ')})'`
    : ` -x -a ${fishQuoted(choices.join(' '))}`;
}

function fishLines({ path, next, command }: Node): readonly string[] {
  const at = (words: string) => `complete -c mayfly -n ${fishQuoted(`__mayfly_at ${words}`)}`;
  const after = [...next].map(
    ([word, words]) => `${at(`0 '${path}'`)} -a ${fishQuoted(word)} -d ${fishQuoted(words)}`,
  );
  if (command === null) return after;
  const options = optionsOf(command).map(
    ([name, usage]) =>
      `${at(`any '${path}'`)} -l ${name}${usage.short === undefined ? '' : ` -s ${usage.short}`}${fishValues(usage)} -d ${fishQuoted(usage.doc)}`,
  );
  const sets = argChoicesOf(command).map(
    ([index, choices]) => `${at(`${index} '${path}'`)} -a ${fishQuoted(choices.join(' '))}`,
  );
  const files = fileArgsOf(command).map((index) => `${at(`${index} '${path}'`)} -F`);
  const rest = command.rest === undefined ? [] : [`${at(`rest '${path}'`)} -F`];
  return [...after, ...options, ...sets, ...files, ...rest];
}

function fishScript(nodes: readonly Node[]): string {
  const { paths, valued } = tablesOf(nodes);
  return `\
# fish completion for mayfly. To install it: mayfly completion --help
function __mayfly_at -a wanted path
    set -l found
    set -l count 0
    set -l skip 0
    set -l known 1
    for word in (commandline -opc)[2..]
        if test $skip = 1
            set skip 0
        else if test "$word" = --
            set count rest
            break
        else if contains -- "$found $word" ${valued.map(fishQuoted).join(' ')}
            set skip 1
        else if string match -q -- '-*' "$word"
            continue
        else if test $known = 1; and contains -- "$(string trim -- "$found $word")" ${paths.map(fishQuoted).join(' ')}
            set found (string trim -- "$found $word")
        else
            set known 0
            set count (math $count + 1)
        end
    end
    test "$found" = "$path"; and begin
        test "$wanted" = any; and test "$count" != rest; or test "$wanted" = "$count"
    end
end
complete -c mayfly -f
${nodes.flatMap(fishLines).join('\n')}
`;
}

const scripts: Readonly<Record<ShellName, (nodes: readonly Node[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export function renderCompletion(shell: ShellName, commands: readonly Command[]): string {
  return scripts[shell](nodesOf(commands));
}
