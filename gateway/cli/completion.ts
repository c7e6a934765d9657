/**
 * `gw completion bash|zsh`: prints a script that completes commands and options. The script holds
 * the words of all commands, so that a key press starts no program.
 */
import type { Command } from "commander";
import { Problem } from "../values/problem.ts";
import { setOutput } from "./command.ts";
import { type Output, pathOf } from "./perform.ts";

export function addCompletion(completion: Command): void {
  setOutput(completion.argument("<shell>", "bash or zsh"), ([shell = ""]) =>
    complete(completion.parent, String(shell)),
  );
}

function complete(program: Command | null, shell: string): Output {
  if (program === null || (shell !== "bash" && shell !== "zsh")) {
    return new Problem("The shell is bash or zsh.");
  }
  const script = scriptOf(program);
  return shell === "bash" ? script : `autoload -U +X bashcompinit && bashcompinit\n${script}`;
}

function scriptOf(program: Command): string {
  const cases = allOf(program).map((command) => {
    const words = [
      ...command.commands.map((each) => each.name()),
      ...command.options.map(({ long }) => long ?? ""),
    ];
    return `    "${pathOf(command)}") words="${words.join(" ")}" ;;`;
  });
  return `_gw() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; esac
    case " ${namesOf(program).join(" ")} " in *" $word "*) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _gw gw`;
}

function allOf(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(allOf)];
}

function namesOf(program: Command): readonly string[] {
  return [
    ...new Set(
      allOf(program)
        .slice(1)
        .map((command) => command.name()),
    ),
  ];
}
