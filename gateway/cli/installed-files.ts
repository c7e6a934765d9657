/** Lists the program's files, those that must not be there, and those that others can write. */
import { createHash } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { lstat, open, readdir, readlink, realpath } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { messageOf } from "../values/problem.ts";

export const programFolder = resolve(import.meta.dirname, "../..");

/**
 * Mode, owner and content by path: `644 0:0 <SHA-256>` for a file, `755 0:0 folder` for a folder,
 * `777 0:0 to <file>` for a symbolic link.
 */
export type Listing = Readonly<Record<string, string>>;
type Found = { readonly files: Listing; readonly faults: readonly string[] };

/** Opens a file without following a symbolic link and without waiting for the writer of a pipe. */
export const openAtOnce = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const writableByOthers = 0o022;
const chunkBytes = 65_536;
/**
 * The folder with the compiled sources that `npm start` writes. An installation must not have it,
 * because Node.js would run the compiled sources instead of the listed files.
 */
const cacheFolder = "node_modules/.cache";

/** Omits git's history and the gateway's data folder. */
export async function listFiles(folder: string, config: Config): Promise<Found> {
  const root = await realpath(folder);
  const left = new Set([join(root, ".git"), resolve(config.dataDir)]);
  const files: [path: string, described: string][] = [];
  const faults: string[] = [];
  await add(".");
  return { files: Object.fromEntries(files), faults };

  async function add(path: string): Promise<void> {
    const place = join(root, path);
    if (left.has(place)) return;
    try {
      const found = await lstat(place);
      faults.push(...findFaults(path, found, config), ...(await findWayOut(path, found)));
      const rights = `${(found.mode & 0o7777).toString(8)} ${found.uid}:${found.gid}`;
      files.push([path, `${rights} ${await describe(place, found)}`]);
      if (found.isDirectory()) await addContents(path, await readdir(place));
    } catch (error) {
      faults.push(`${path} cannot be read: ${messageOf(error)}.`);
    }
  }

  async function addContents(path: string, names: readonly string[]): Promise<void> {
    if (path !== cacheFolder) for (const name of names.toSorted()) await add(join(path, name));
    else if (names.length > 0) faults.push(`${path} has compiled sources: delete it.`);
  }

  async function findWayOut(path: string, found: Stats): Promise<readonly string[]> {
    if (!found.isSymbolicLink()) return [];
    const place = join(root, path);
    const target = resolve(dirname(place), await readlink(place));
    const reached = await realpath(place).catch(() => target);
    if (!relative(root, reached).startsWith("..")) return [];
    return [`${path} leads out of the installation, to ${reached}.`];
  }
}

function findFaults(path: string, found: Stats, { environment }: Config): readonly string[] {
  const isLink = found.isSymbolicLink();
  const isWritable = !isLink && (found.mode & writableByOthers) !== 0;
  const isForeign = environment === "production" && found.uid !== 0;
  const isKnown = isLink || found.isFile() || found.isDirectory();
  return [
    ...(isWritable
      ? [`${path} can be written by users other than its owner: chmod go-w ${path}`]
      : []),
    ...(isForeign ? [`${path} does not belong to root: chown -h root ${path}`] : []),
    ...(isKnown ? [] : [`${path} is no file, no folder and no link.`]),
  ];
}

async function describe(place: string, found: Stats): Promise<string> {
  if (found.isDirectory()) return "folder";
  if (found.isSymbolicLink()) return `to ${await readlink(place)}`;
  return found.isFile() ? digestFile(place) : "other";
}

/** The file is read in parts, so that it may have any size. */
export async function digestFile(place: string): Promise<string> {
  const hash = createHash("sha256");
  await using file = await open(place, openAtOnce);
  const chunk = Buffer.allocUnsafe(chunkBytes);
  for (;;) {
    const { bytesRead } = await file.read(chunk);
    if (bytesRead === 0) return hash.digest("hex");
    hash.update(chunk.subarray(0, bytesRead));
  }
}

/** Returns a sentence for each file that was changed, added or removed. */
export function compareListings(expected: Listing, found: Listing): readonly string[] {
  const [before, now] = [new Map(Object.entries(expected)), new Map(Object.entries(found))];
  const changed = [...before].flatMap(([path, described]) => {
    const other = now.get(path);
    if (other === described) return [];
    if (other === undefined) return [`${path} was removed.`];
    const [had, has] = [splitEntry(described), splitEntry(other)];
    if (had.content !== has.content) return [`${path} was changed.`];
    return [`${path} had the mode and owner ${had.rights}, and has ${has.rights}.`];
  });
  const added = [...now.keys()].filter((path) => !before.has(path));
  return [...changed, ...added.map((path) => `${path} was added.`)];
}

function splitEntry(described: string) {
  const [mode, owner, ...content] = described.split(" ");
  return { rights: `${mode} ${owner}`, content: content.join(" ") };
}
