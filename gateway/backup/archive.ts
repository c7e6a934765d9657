/**
 * The container of a backup: a tar of named parts, so that any tar program opens it. A name is a
 * label and never a path: the reader writes no files. Parts are small enough for the memory.
 */
const blockBytes = 512;
/** The size of one part. A reader refuses larger ones before it reads them. */
export const partBytesMax = 16 * 1024 * 1024;

export type Part = { readonly name: string; readonly content: Buffer };

/** What is wrong with the bytes; the backup cannot be used. */
export class BadArchive extends Error {}

export async function* packParts(parts: AsyncIterable<Part>): AsyncGenerator<Buffer> {
  for await (const { name, content } of parts) {
    yield headerOf(name, content.length);
    yield content;
    yield Buffer.alloc(paddingOf(content.length));
  }
  yield Buffer.alloc(2 * blockBytes);
}

function paddingOf(bytes: number): number {
  return (blockBytes - (bytes % blockBytes)) % blockBytes;
}

/** A header of the ustar format: name, mode, owner, size, time, checksum, type, magic. */
function headerOf(name: string, bytes: number): Buffer {
  if (Buffer.byteLength(name) > 100 || bytes > partBytesMax) throw new Error(`bad part ${name}`);
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  header.write(name, 0);
  header.write(`${octal(0o600, 7)}${octal(0, 7)}${octal(0, 7)}`, 100);
  header.write(`${octal(bytes, 11)}${octal(0, 11)}`, 124);
  header.write("        0", 148);
  header.write("ustar\u000000", 257);
  header.write(`${octal(sumOf(header), 6)} `, 148);
  return header;
}

function sumOf(header: Buffer): number {
  return header.reduce((sum, byte) => sum + byte, 0);
}

/** Fails unless the archive ends with its two empty blocks, and with nothing behind them. */
export async function* readParts(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Part> {
  const reader = makeReader(bytes);
  for (;;) {
    const header = await reader.take(blockBytes);
    if (header.every((byte) => byte === 0)) break;
    const { name, size } = parseHeader(header);
    const content = await reader.take(size);
    await reader.take(paddingOf(size));
    yield { name, content };
  }
  const last = await reader.take(blockBytes);
  if (!last.every((byte) => byte === 0)) throw new BadArchive("the end is damaged");
  if (!(await reader.isAtEnd())) throw new BadArchive("there is more behind the end");
}

function parseHeader(header: Buffer): { readonly name: string; readonly size: number } {
  const [name = ""] = header.toString("latin1", 0, 100).split("\0");
  const size = Number.parseInt(header.toString("latin1", 124, 135), 8);
  const sum = Number.parseInt(header.toString("latin1", 148, 154), 8);
  const blank = Buffer.from(header).fill(" ", 148, 156);
  if (sumOf(blank) !== sum) throw new BadArchive("a part's header is damaged");
  if (!(size >= 0 && size <= partBytesMax)) throw new BadArchive("a part is too large");
  return { name, size };
}

function makeReader(bytes: AsyncIterable<Uint8Array>) {
  const source = bytes[Symbol.asyncIterator]();
  let chunks: Uint8Array[] = [];
  let length = 0;
  return {
    async take(wanted: number): Promise<Buffer> {
      while (length < wanted) {
        if (!(await fill())) throw new BadArchive("the backup ends too early");
      }
      const all = chunks.length === 1 ? Buffer.from(chunks[0] ?? []) : Buffer.concat(chunks);
      chunks = length > wanted ? [all.subarray(wanted)] : [];
      length -= wanted;
      return all.subarray(0, wanted);
    },
    isAtEnd: async () => length === 0 && !(await fill()),
  };

  async function fill(): Promise<boolean> {
    const { done, value } = await source.next();
    if (done === true) return false;
    chunks.push(value);
    length += value.length;
    return true;
  }
}
