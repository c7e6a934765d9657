/**
 * Fills templates, and writes the few elements that generated Markdown and TypeScript consist of.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { settings } from "../../gateway/config/settings.ts";
import { failures } from "../../gateway/values/failure.ts";

/**
 * Renders a page from `templates/`. `{{name}}` stands for one of the values, `{{word code}}` and
 * `{{number code}}` for a failure, `{{variable name}}`, `{{value name}}`, `{{seconds name}}` and
 * `{{list name}}` for a setting.
 */
export function renderTemplate(
  name: string,
  from: string,
  values: Readonly<Record<string, string>>,
): string {
  const template = readFileSync(join(import.meta.dirname, "templates", `${name}.md`), "utf8");
  const filled = template.replaceAll(/\{\{([\w-]+)(?: (\w+))?\}\}/g, (_, key, of) => {
    const value = of === undefined ? values[key] : look(key, of);
    if (value === undefined) throw new Error(`${name}.md: nothing stands for ${key} ${of ?? ""}`);
    return value;
  });
  return `${originOf(from)}\n\n${filled}`;
}

function look(what: string, name: string): string | undefined {
  for (const [code, { word, number }] of Object.entries(failures)) {
    if (code === name) return what === "word" ? word : String(number);
  }
  for (const [key, { name: variable, production }] of Object.entries(settings)) {
    if (key !== name) continue;
    if (what === "variable") return variable;
    if (what === "value") return String(production);
    return [production]
      .flat()
      .map((each) => Number(each) / 1000)
      .join(", ");
  }
  return undefined;
}

/** Returns a page: its origin, its title, and its parts with a blank line between them. */
export function page(from: string, title: string, ...parts: readonly string[]): string {
  return `${[originOf(from), `# ${title}`, ...parts].join("\n\n")}\n`;
}

function originOf(from: string): string {
  return `<!-- Generated from ${from} by \`npm run docs\`. Do not edit. -->`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

export function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

export function mono(text: string): string {
  return `\`${text}\``;
}

export function sentence(text = ""): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
}

export function block(...lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}

export function camel(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function pascal(name: string): string {
  return camel(`-${name}`);
}

export function quote(text: string): string {
  return JSON.stringify(text);
}
