/**
 * `gw files sign` and `gw doctor --files`: a manifest of the installed program, signed with the key
 * of the audit, and the comparison with it. Only the key-encryption key opens that key, so that an
 * account which can write the program's files cannot write a manifest for them.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { isOwnKey, isSignedBy, listAuditKeys, openSigner } from "../storage/audit.ts";
import { messageOf } from "../values/problem.ts";
import { calendar, systemClock } from "../values/time.ts";
import type { Check, CheckResult } from "./checks/check.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import { openVault } from "./installation.ts";

const programFolder = resolve(import.meta.dirname, "../..");
/** What runs, with the packages and the pinned Node among them. */
const parts = ["gateway", "protocols", "portal/dist", "docs-site/dist", "node_modules", "tools"];
const loose = ["package.json", "package-lock.json"];
/** Compiled sources: Node makes them again from the files that are listed. */
const skipped = new Set(["node_modules/.cache"]);
const findingsShown = 20;

type Digests = Readonly<Record<string, string>>;
type SignedManifest = {
  readonly at: string;
  readonly files: Digests;
  readonly key: number;
  readonly signature: string;
};

export function addFilesCommands(files: Command): void {
  const sign = (session: Session) => signFiles(session, programFolder);
  addCommands(files, [
    ["sign", "sign a manifest of the installed files, for doctor --files", sign],
  ]);
}

export async function signFiles(session: Session, folder: string): Promise<Output> {
  const signer = await openSigner(session.database.query, await openVault(session));
  const manifest = { at: calendar(systemClock.now()).iso, files: await digestFiles(folder) };
  const text = signedText(manifest);
  const signature = signer.signText(text).toString("base64");
  const place = manifestFile(session);
  const stored: SignedManifest = { ...manifest, key: signer.keyId, signature };
  await writeFile(place, JSON.stringify(stored, undefined, 1), { mode: 0o640 });
  const facts = { files: Object.keys(manifest.files).length, manifest: digestOf(text) };
  await session.audit.write({ action: "files sign", subject: hostname(), after: facts });
  return { ...facts, file: place };
}

export const filesCheck: Check = [
  "files",
  "installed files that were changed, added or removed since gw files sign (--files)",
  (session) => checkFiles(session, programFolder),
];

export async function checkFiles(session: Session, folder: string): Promise<CheckResult> {
  const place = manifestFile(session);
  const read = await readFile(place, "utf8").catch(messageOf);
  const manifest = parse(read);
  const what = `installed files: ${place}`;
  if (manifest === undefined) {
    return { what, troubles: ["It cannot be read: run gw files sign after each installation."] };
  }
  if (!(await isGenuine(session, manifest))) {
    return { what, troubles: ["Its signature is not this installation's: it was changed."] };
  }
  const found = compareFiles(manifest.files, await digestFiles(folder));
  const more = found.length - findingsShown;
  const troubles = [...found.slice(0, findingsShown), ...(more > 0 ? [`And ${more} more.`] : [])];
  return { what: `${what} of ${manifest.at}`, troubles };
}

function manifestFile({ config }: Session): string {
  return join(resolve(config.dataDir), "installed-files.json");
}

async function isGenuine(session: Session, manifest: SignedManifest): Promise<boolean> {
  const keys = await listAuditKeys(session.database.query);
  const key = keys.find(({ id }) => id === manifest.key);
  const open = await session.openKnown();
  if (key === undefined || open === undefined || !isOwnKey(key, open)) return false;
  return isSignedBy(key, signedText(manifest), Buffer.from(manifest.signature, "base64"));
}

function parse(text: string): SignedManifest | undefined {
  try {
    const { at, files, key, signature }: Partial<SignedManifest> = JSON.parse(text);
    if (typeof at !== "string" || typeof files !== "object") return undefined;
    if (typeof key !== "number" || typeof signature !== "string") return undefined;
    return { at, files, key, signature };
  } catch {
    return undefined;
  }
}

function signedText({ at, files }: Pick<SignedManifest, "at" | "files">): Buffer {
  return Buffer.from(`tollgate-files\n${digestOf(JSON.stringify([at, files]))}`);
}

function digestOf(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

function compareFiles(expected: Digests, found: Digests): readonly string[] {
  const changed = Object.keys(expected).flatMap((path) => {
    if (found[path] === expected[path]) return [];
    return [`${path} was ${path in found ? "changed" : "removed"}.`];
  });
  const added = Object.keys(found).filter((path) => !(path in expected));
  return [...changed, ...added.map((path) => `${path} was added.`)];
}

/** The SHA-256 of each file, and the target of each link, in the order of their paths. */
async function digestFiles(folder: string): Promise<Digests> {
  const digests: Record<string, string> = {};
  for (const part of [...parts, ...loose].toSorted()) await add(part);
  return digests;

  async function add(path: string): Promise<void> {
    const entries = await readdir(join(folder, path), { withFileTypes: true }).catch(
      (error: NodeJS.ErrnoException) => error.code,
    );
    if (entries === "ENOTDIR") digests[path] = await digestFile(join(folder, path));
    if (!Array.isArray(entries)) return;
    for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      const inner = `${path}/${entry.name}`;
      if (skipped.has(inner)) continue;
      if (entry.isDirectory()) await add(inner);
      else if (entry.isSymbolicLink()) digests[inner] = `to ${await readlink(join(folder, inner))}`;
      else digests[inner] = await digestFile(join(folder, inner));
    }
  }
}

async function digestFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
