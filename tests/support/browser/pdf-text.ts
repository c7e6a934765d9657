/**
 * Reads the words of a PDF that the browser printed, in the order in which they are drawn, which is
 * what a reader of the paper sees. Each font has a table that maps its glyphs to characters. Only
 * the part of the format that Chromium writes is read.
 */
import { inflateSync } from "node:zlib";

export function readPdfText(pdf: Uint8Array): string {
  const objects = objectsOf(Buffer.from(pdf).toString("latin1"));
  const pages = [...objects.values()].filter(({ head }) => /\/Type \/Page\b/.test(head));
  return pages.map((page) => wordsOf(page, objects)).join("\n\f\n");
}

type PdfObject = { readonly head: string; readonly stream: string };
type Objects = ReadonlyMap<string, PdfObject>;
type Glyphs = ReadonlyMap<string, string>;

function objectsOf(text: string): Objects {
  const found = text.matchAll(/^(\d+) 0 obj\b(.*?)^endobj/gms);
  return new Map([...found].map(([, id = "", body = ""]) => [id, objectOf(body)]));
}

function objectOf(body: string): PdfObject {
  const [before, head = body] = /^(.*?)\bstream\r?\n/s.exec(body) ?? [];
  if (before === undefined) return { head, stream: "" };
  // The length is needed, because the last byte of a compressed stream may be a line end.
  const length = Number(/\/Length (\d+)/.exec(head)?.[1]);
  const bytes = Buffer.from(body.slice(before.length, before.length + length), "latin1");
  const isPacked = head.includes("/FlateDecode");
  return { head, stream: (isPacked ? inflateSync(bytes) : bytes).toString("latin1") };
}

/** Reads glyph by glyph. A move begins a new word, and a move down begins a new line. */
function wordsOf({ head }: PdfObject, objects: Objects): string {
  const fonts = new Map(
    [...head.matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name = "", id = ""]) => {
      return [name, glyphsOf(id, objects)];
    }),
  );
  const content = streamAt(/\/Contents (\d+) 0 R/.exec(head)?.[1], objects);
  const steps = content.matchAll(/\/(F\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)>|\b(BT)\b/g);
  let glyphs: Glyphs = new Map();
  let words = "";
  for (const [, font, shown, begins] of steps) {
    if (begins !== undefined) words += "\n";
    if (font !== undefined) glyphs = fonts.get(font) ?? new Map();
    for (const glyph of shown?.match(/.{4}/g) ?? [])
      words += glyphs.get(glyph.toLowerCase()) ?? "�";
  }
  return words.normalize("NFKC");
}

function glyphsOf(fontId: string, objects: Objects): Glyphs {
  const table = streamAt(
    /\/ToUnicode (\d+) 0 R/.exec(objects.get(fontId)?.head ?? "")?.[1],
    objects,
  );
  const glyphs = new Map<string, string>();
  for (const [, rows = ""] of table.matchAll(/beginbfchar(.*?)endbfchar/gs)) {
    for (const [, glyph = "", text = ""] of rows.matchAll(/<(\w+)> <(\w+)>/g)) {
      glyphs.set(glyph.toLowerCase(), charactersOf(text));
    }
  }
  for (const [, rows = ""] of table.matchAll(/beginbfrange(.*?)endbfrange/gs)) {
    for (const [, first = "", last = "", text = ""] of rows.matchAll(/<(\w+)> <(\w+)> <(\w+)>/g)) {
      const [from, to] = [Number.parseInt(first, 16), Number.parseInt(last, 16)];
      for (let glyph = from; glyph <= to; glyph += 1) {
        const character = String.fromCodePoint(Number.parseInt(text, 16) + glyph - from);
        glyphs.set(glyph.toString(16).padStart(4, "0"), character);
      }
    }
  }
  return glyphs;
}

/** Decodes UTF-16 that is written as hex. */
function charactersOf(hex: string): string {
  return Buffer.from(hex, "hex").swap16().toString("utf16le");
}

function streamAt(id: string | undefined, objects: Objects): string {
  const found = objects.get(id ?? "");
  if (found === undefined) throw new Error("the PDF is not written as Chromium writes it");
  return found.stream;
}
