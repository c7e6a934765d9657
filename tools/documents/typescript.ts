/** The few shapes that the generated TypeScript of the client is made of. */

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
