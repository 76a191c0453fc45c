/** The completion for bash: commands, their options, the values of options that take few, and files where one is asked for. */
import type { Argument, Option } from "commander";
import { ValuesOption } from "../../src/cli/command-line.ts";
import { type ListedCommand, listCommands, optionsOf } from "./command-list.ts";

function flagsOf(option: Option): string[] {
  return [option.short, option.long].filter((flag) => flag !== undefined);
}

/** How the script calls a command: its words, a blank between two. */
function nameOf({ words }: ListedCommand): string {
  return words.join(" ");
}

/** What the help calls what lies in the file system; nobody can guess the rest. */
const pathKinds: ReadonlyMap<string, string> = new Map([
  ["file", "file"],
  ["dir", "dir"],
  ["folder", "dir"],
  ["backup", "dir"],
]);

function operandKindOf({ command }: ListedCommand): string {
  const kinds = command.registeredArguments.map((argument: Argument) => pathKinds.get(argument.name()));
  return kinds.find((kind) => kind !== undefined) ?? "other";
}

function commandCase(listed: ListedCommand): string {
  const commands = listed.command.commands.map((child) => child.name()).join(" ");
  const options = [...optionsOf(listed).flatMap(flagsOf), "--help"].join(" ");
  return `    "${nameOf(listed)}") commands="${commands}" options="${options}" operands=${operandKindOf(listed)} ;;`;
}

/** What stands behind an option: a file, a folder, one of its values, or what nobody can guess. */
function valueKindOf(option: Option): string | undefined {
  if (!option.required) return undefined;
  const values = option instanceof ValuesOption ? option.values : option.argChoices;
  if (values !== undefined) return `choice ${values.join(" ")}`;
  const [, name = ""] = /<([a-z]+)>/.exec(option.flags) ?? [];
  return pathKinds.get(name) ?? "other";
}

function valueCases(commands: readonly ListedCommand[]): string[] {
  const flags = new Map<string, string[]>();
  for (const listed of commands) {
    for (const option of optionsOf(listed)) {
      const kind = valueKindOf(option);
      if (kind === undefined) continue;
      const named = flagsOf(option).map((flag) => `"${nameOf(listed)}:${flag}"`);
      flags.set(kind, [...(flags.get(kind) ?? []), ...named]);
    }
  }
  return [...flags].map(([kind, named]) => `    ${named.join(" | ")}) value="${kind}" ;;`);
}

const head = `# Completion of dropgate for bash. Generated from the source of dropgate; do not edit.

# Sets what the command takes whose words are given: commands, options, and the kind of its other arguments.
_dropgate_command() {
  commands= options= operands=other
  case $1 in
`;

const middle = `  esac
}

# Sets the kind of the value that an option of a command takes; to nothing for one that takes none.
_dropgate_value() {
  value=
  case $1:$2 in
`;

/** "=" is a word of its own in COMP_WORDS. Only names of files are quoted, and get a slash when they are folders. */
const tail = `  esac
}

_dropgate_offer() {
  mapfile -t COMPREPLY < <(compgen "$@" -- "$current")
}

_dropgate() {
  local current=\${COMP_WORDS[COMP_CWORD]} path= commands options operands value= word i
  COMPREPLY=()
  [[ $current == = ]] && current=
  _dropgate_command "$path"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == = ]]; then
      continue
    elif [[ -n $value ]]; then
      value=
    elif [[ $word == -* ]]; then
      _dropgate_value "$path" "$word"
    elif [[ " $commands " == *" $word "* ]]; then
      path=\${path:+$path }$word
      _dropgate_command "$path"
    fi
  done
  if [[ -z $value && $current == -* ]]; then
    _dropgate_offer -W "$options"
  elif [[ -z $value && -n $commands ]]; then
    _dropgate_offer -W "$commands"
  else
    case \${value:-$operands} in
      file) compopt -o filenames 2>/dev/null; _dropgate_offer -f ;;
      dir) compopt -o filenames 2>/dev/null; _dropgate_offer -d ;;
      choice*) _dropgate_offer -W "\${value#choice }" ;;
    esac
  fi
}

complete -F _dropgate dropgate
`;

/** The script, for `/usr/share/bash-completion/completions/dropgate`. */
export function renderCompletion(): string {
  const commands = listCommands();
  return `${head}${commands.map(commandCase).join("\n")}\n${middle}${valueCases(commands).join("\n")}\n${tail}`;
}
