/** The few shapes that generated documents and sources are made of: Markdown first. */

/** A page: where it comes from, its one title, and its parts, a blank line between them. */
export function page(from: string, title: string, ...parts: readonly string[]): string {
  const origin = `<!-- Generated from ${from} by \`npm run docs\`. Do not edit. -->`;
  return `${[origin, `# ${title}`, ...parts].join("\n\n")}\n`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

export function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

export function list(...items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join("\n");
}

export function numbered(...items: readonly string[]): string {
  return items.map((item, index) => `${index + 1}. ${item}`).join("\n");
}

export function mono(text: string): string {
  return `\`${text}\``;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
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

export function key(name: string): string {
  return /^\w+$/.test(name) ? name : quote(name);
}

export function quote(text: string): string {
  return JSON.stringify(text);
}

export function sentence(text = ""): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
