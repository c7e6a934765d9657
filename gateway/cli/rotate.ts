/** Keeps a log file from growing for ever: a large one is put aside when the gateway starts. */
import { rename, stat } from "node:fs/promises";

const bytesMax = 50_000_000;

export async function rotate(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined && found.size > bytesMax) await rename(file, `${file}.old`);
  return file;
}
