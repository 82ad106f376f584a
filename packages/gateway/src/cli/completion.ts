// Completion scripts, made from the tree of commands: the scripts hold the words themselves, so that pressing Tab starts
// no program. One renderer per shell; what they render is the same data.

export interface CompletionOption {
  readonly long: string;
  readonly short?: string;
  readonly summary: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

/** One place in the tree: what can follow there. */
export interface CompletionNode {
  /** Empty for the program itself, `session`, `session ls`. */
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly summary: string }[];
  readonly options: readonly CompletionOption[];
}

export type Shell = 'bash' | 'zsh' | 'fish';

export function renderCompletion(shell: Shell, nodes: readonly CompletionNode[]): string {
  return renderers[shell](nodes);
}

const renderers: Readonly<Record<Shell, (nodes: readonly CompletionNode[]) => string>> = { bash, zsh, fish };

function bash(nodes: readonly CompletionNode[]): string {
  const options = allOptions(nodes);
  const places = nodes.map(
    ({ path, words, options: own }) =>
      `    ${quote(path)}) words=${quote(words.map(({ word }) => word).join(' '))} options=${quote(own.flatMap(spellings).join(' '))} ;;`,
  );
  return `# bash completion for tenon
_tenon() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" place='' word words='' options='' skip='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
${walkOn(nodes, options)}
  done
  case "$previous" in
${options
  .filter(({ choices }) => choices.length > 0)
  .map((each) => `    ${spellings(each).join('|')}) COMPREPLY=($(compgen -W ${quote(each.choices.join(' '))} -- "$current")); return ;;`)
  .join('\n')}
    ${valueOptions(options).join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  case "$place" in
${places.join('\n')}
  esac
  if [[ "$current" == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n "$words" ]]; then COMPREPLY=($(compgen -W "$words" -- "$current"))
  else COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -F _tenon tenon`;
}

/** How bash and zsh find the command that a line has come to, one word at a time. */
function walkOn(nodes: readonly CompletionNode[], options: ReturnType<typeof allOptions>): string {
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => quote(path));
  return `    if [[ -n $skip ]]; then skip=''; continue; fi
    case "$word" in
      ${valueOptions(options).join('|')}) skip=1 ;;
      -*) ;;
      *) case "\${place:+$place }$word" in ${paths.join('|')}) place="\${place:+$place }$word" ;; esac ;;
    esac`;
}

function zsh(nodes: readonly CompletionNode[]): string {
  const options = allOptions(nodes);
  const described = (pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([word, summary]) => quote(`${word.replaceAll(':', '\\:')}:${summary}`)).join(' ');
  const places = nodes.map(
    ({ path, words: own, options: flags }) =>
      `    ${quote(path)}) choices=(${described(own.map(({ word, summary }) => [word, summary]))}); flags=(${described(flags.flatMap((each) => spellings(each).map((spelling) => [spelling, each.summary] as const)))}) ;;`,
  );
  return `#compdef tenon
_tenon() {
  local place='' word skip='' i
  local -a choices flags
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
${walkOn(nodes, options)}
  done
  case "\${words[CURRENT-1]}" in
${options
  .filter(({ choices }) => choices.length > 0)
  .map((each) => `    ${spellings(each).join('|')}) compadd -- ${each.choices.map(quote).join(' ')}; return ;;`)
  .join('\n')}
    ${valueOptions(options).join('|')}) _files; return ;;
  esac
  case "$place" in
${places.join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then _describe option flags
  elif (( \${#choices} )); then _describe command choices
  else _files; fi
}
if [[ "$funcstack[1]" == _tenon ]]; then _tenon "$@"; else compdef _tenon tenon; fi`;
}

function fish(nodes: readonly CompletionNode[]): string {
  const paths = nodes.map(({ path }) => path).filter((path) => path !== '');
  const lines = nodes.flatMap(({ path, words, options }) => {
    const here = `complete -c tenon -n ${quote(`__tenon_at ${path}`.trim())}`;
    return [
      ...words.map(({ word, summary }) => `${here} -f -a ${quote(word)} -d ${quote(summary)}`),
      ...options.map(({ long, short, summary, takesValue, choices }) => {
        const value = choices.length > 0 ? ` -x -a ${quote(choices.join(' '))}` : takesValue ? ' -r' : '';
        return `${here} -l ${long.slice(2)}${short ? ` -s ${short.slice(1)}` : ''}${value} -d ${quote(summary)}`;
      }),
    ];
  });
  return `# fish completion for tenon
function __tenon_at
  set -l place
  set -l skip
  for word in (commandline -opc)[2..-1]
    if set -q skip[1]
      set -e skip
      continue
    end
    switch $word
      case ${valueOptions(allOptions(nodes)).join(' ')}
        set skip 1
      case '-*'
      case '*'
        if contains -- (string join ' ' -- $place $word) ${paths.map(quote).join(' ')}
          set -a place $word
        end
    end
  end
  test (string join ' ' -- $place) = (string join ' ' -- $argv)
end
${lines.join('\n')}`;
}

/** Each spelling once: the same flag on two commands completes alike unless their choices differ, and then offers both. */
function allOptions(nodes: readonly CompletionNode[]): CompletionOption[] {
  const byName = new Map<string, CompletionOption>();
  for (const option of nodes.flatMap((node) => node.options)) {
    const known = byName.get(option.long);
    byName.set(option.long, known ? { ...known, choices: [...new Set([...known.choices, ...option.choices])] } : option);
  }
  return [...byName.values()];
}

function valueOptions(options: readonly CompletionOption[]): string[] {
  return options.filter(({ takesValue }) => takesValue).flatMap(spellings);
}

function spellings({ long, short }: CompletionOption): string[] {
  return short === undefined ? [long] : [long, short];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
