/** What `/metrics` shows of a node's machine and of the certificates that it uses. */
import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";

type Places = { readonly dataDir: string; readonly logFile: string };

/** Where the data folder or the log has least. */
export async function findLeastFree({ dataDir, logFile }: Places): Promise<number> {
  const folders = [resolve(dataDir), ...(logFile === "" ? [] : [dirname(resolve(logFile))])];
  return Math.min(...(await Promise.all(folders.map(findFree))));
}

/** In bytes, for the user of this process. */
export async function findFree(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

type NamedDays = readonly [name: string, left: number | undefined];

/** The days left of the certificates that exist, by name. */
export function listDays(days: readonly NamedDays[]): ReadonlyMap<string, number> {
  const known = new Map<string, number>();
  for (const [name, left] of days) if (left !== undefined) known.set(name, left);
  return known;
}

/** An unreachable source has no figure, and keeps none of the others from being shown. */
export async function orNone(read: () => Promise<number | undefined>): Promise<number> {
  return (await read().catch(() => undefined)) ?? Number.NaN;
}

/** Those that are up, and those that should be. */
type Connections = ReadonlyMap<string, { readonly up: number; readonly wanted: number }>;

/** The figures of connections by gate. */
export function linkFigures(connections: () => Connections) {
  const countOf = (which: "up" | "wanted") => () =>
    new Map([...connections()].map(([gate, count]) => [gate, count[which]]));
  return { connectionsUp: countOf("up"), connections: countOf("wanted") };
}
