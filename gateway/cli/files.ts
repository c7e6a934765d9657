/**
 * `gw files sign` writes a manifest of the installed program's files, with which `gw doctor
 * --files` compares them. The audit's key signs it and needs the key-encryption key, so an account
 * that can write the files cannot sign a changed manifest. The audit contains the newest manifest's
 * digest, so an older program with its own manifest is found too.
 */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { type Output, openVault } from "../administration/session.ts";
import { isOwnKey, isSignedBy, listAuditKeys, openSigner } from "../storage/people/audit.ts";
import { findEntries } from "../storage/people/audit-verify.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { asInstant, calendar, systemClock } from "../values/time.ts";
import type { Check, CheckResult } from "./checks/check.ts";
import {
  compareListings,
  type Listing,
  listFiles,
  openAtOnce,
  programFolder,
} from "./installed-files.ts";
import { installed, type MachineSession } from "./machine-command.ts";

const findingsShown = 20;

type Manifest = {
  /** The version of the program, from the `package.json` in its root folder. */
  readonly release: string;
  readonly at: string;
  readonly files: Listing;
};
type SignedManifest = Manifest & { readonly key: number; readonly signature: string };

export const filesCommands = [
  installed("change", "operate", {
    name: "files sign",
    does: ["sign a manifest of the installed files, for doctor --files"],
    perform: (session) => signFiles(session, programFolder),
  }),
];

export async function signFiles(session: MachineSession, folder: string): Promise<Output> {
  const { files, faults } = await listFiles(folder, session.config);
  if (faults.length > 0) {
    return new Problem([...shorten(faults), "Nothing was signed."].join("\n"));
  }
  const signer = await openSigner(session.database.query, await openVault(session));
  const release = await findRelease(folder);
  const manifest = { release, at: calendar(systemClock.now()).iso, files };
  const text = signedText(manifest);
  const signature = signer.signText(text).toString("base64");
  const place = manifestFile(session);
  const stored: SignedManifest = { ...manifest, key: signer.keyId, signature };
  await writeFile(place, JSON.stringify(stored, undefined, 1), { mode: 0o640 });
  const facts = { release, files: Object.keys(files).length, manifest: digestOf(text) };
  await session.audit.write({ action: "files sign", subject: hostname(), after: facts });
  return { ...facts, file: place };
}

export const filesCheck: Check = [
  "files",
  "installed files that were changed, added or removed since gw files sign (--files)",
  (session) => checkFiles(session, programFolder),
];

export async function checkFiles(session: MachineSession, folder: string): Promise<CheckResult> {
  const place = manifestFile(session);
  const read = await readFile(place, { encoding: "utf8", flag: openAtOnce }).catch(messageOf);
  const manifest = parse(read);
  const what = `installed files: ${place}`;
  if (manifest === undefined) {
    return { what, troubles: ["It cannot be read: run gw files sign after each installation."] };
  }
  if (!(await isGenuine(session, manifest))) {
    return { what, troubles: ["Its signature is not this installation's: it was changed."] };
  }
  const { files, faults } = await listFiles(folder, session.config);
  const found = [...(await findNewer(session, manifest)), ...faults];
  const { release, at } = manifest;
  return {
    what: `${what} of release ${release}, signed at ${at}`,
    troubles: shorten([...found, ...compareListings(manifest.files, files)]),
  };
}

function shorten(found: readonly string[]): readonly string[] {
  const more = found.length - findingsShown;
  return [...found.slice(0, findingsShown), ...(more > 0 ? [`And ${more} more.`] : [])];
}

/** Reports a manifest that is not the newest one: an older one would match an older program. */
async function findNewer(session: MachineSession, manifest: Manifest): Promise<readonly string[]> {
  const filter = { action: "files sign", subject: hostname(), limit: 1 };
  const [newest] = await findEntries(session.database.query, filter);
  const known: { manifest?: string; release?: string } = JSON.parse(newest?.after ?? "{}");
  if (known.manifest === digestOf(signedText(manifest))) return [];
  return [
    newest === undefined
      ? `The audit has no manifest of ${hostname()}: run gw files sign on this machine.`
      : `It is not the manifest that was signed last, for release ${known.release} at ` +
        `${calendar(asInstant(newest.at)).iso}: an older one was put in its place.`,
  ];
}

async function findRelease(folder: string): Promise<string> {
  const { version }: { version?: string } = JSON.parse(
    await readFile(join(folder, "package.json"), "utf8"),
  );
  return version ?? "unknown";
}

function manifestFile({ config }: MachineSession): string {
  return join(resolve(config.dataDir), "installed-files.json");
}

async function isGenuine(session: MachineSession, manifest: SignedManifest): Promise<boolean> {
  const keys = await listAuditKeys(session.database.query);
  const key = keys.find(({ id }) => id === manifest.key);
  const open = await session.openKnown();
  if (key === undefined || open === undefined || !isOwnKey(key, open)) return false;
  return isSignedBy(key, signedText(manifest), Buffer.from(manifest.signature, "base64"));
}

function parse(text: string): SignedManifest | undefined {
  try {
    const { release, at, files, key, signature }: Partial<SignedManifest> = JSON.parse(text);
    if (typeof release !== "string" || typeof at !== "string") return undefined;
    if (typeof files !== "object" || typeof key !== "number") return undefined;
    return typeof signature === "string" ? { release, at, files, key, signature } : undefined;
  } catch {
    return undefined;
  }
}

function signedText({ release, at, files }: Manifest): Buffer {
  return Buffer.from(`tollgate-files\n${digestOf(JSON.stringify([release, at, files]))}`);
}

function digestOf(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
