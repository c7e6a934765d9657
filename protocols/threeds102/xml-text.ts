/**
 * Text inside XML. Escaped as canonical XML wants it, so that what is written here is already in
 * the form that gets signed.
 */

// biome-ignore format: a table
const escapes: Readonly<Record<string, string>> = {
  "&":  "&amp;",
  "<":  "&lt;",
  ">":  "&gt;",
  "\r": "&#xD;",
};

// biome-ignore format: a table
const predefined: Readonly<Record<string, string>> = {
  "amp":  "&",
  "lt":   "<",
  "gt":   ">",
  "quot": '"',
  "apos": "'",
};

const notXml = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** Whether all characters, written as such or as a reference, may stand in XML 1.0. */
export function isXmlText(text: string): boolean {
  return !notXml.test(text);
}

export function isBlank(text: string): boolean {
  return /^[ \t\r\n]*$/.test(text);
}

export function escapeText(text: string): string {
  return text.replace(/[&<>\r]/g, (character) => escapes[character] ?? character);
}

/** Undefined when there is a reference to anything but a character. */
export function resolveReferences(text: string): string | undefined {
  let known = true;
  const resolved = text.replace(/&([^&;]{0,10});?/g, (reference, name: string) => {
    const character = reference.endsWith(";") ? characterOf(name) : undefined;
    if (character === undefined) known = false;
    return character ?? "";
  });
  return known && isXmlText(resolved) ? resolved : undefined;
}

function characterOf(name: string): string | undefined {
  if (Object.hasOwn(predefined, name)) return predefined[name];
  const numeric = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(name);
  if (numeric === null) return undefined;
  const [, hexadecimal, decimal = ""] = numeric;
  const point = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
  return point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}
