/**
 * The bank's certificates on disk: made on the first start, used again on later ones, and made
 * anew as a whole when one of them is missing, damaged, about to expire or not of this family.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Family, makeDirectoryFamily, makePaResFamily } from "./families.ts";

/** What the directory server shows, both as a server and as a client. */
export type DirectoryIdentity = {
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
};

/** What the ACS signs a PARes with; the signer's own certificate first. */
export type PaResIdentity = { readonly certificates: readonly string[]; readonly key: string };

export type Identities = { readonly directory: DirectoryIdentity; readonly paRes: PaResIdentity };

const renewalMs = 30 * 24 * 3_600_000;

export async function openIdentities(folder: string, nowMs: number): Promise<Identities> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const [directory, paRes] = await Promise.all([
    openFamily(folder, nowMs, makeDirectoryFamily),
    openFamily(folder, nowMs, makePaResFamily),
  ]);
  const [authority = "", certificate = "", key = ""] = pick(directory, [
    "directory-ca.pem",
    "directory.pem",
    "directory.key",
  ]);
  const [paResKey = "", ...certificates] = pick(paRes, [
    "pares-signer.key",
    "pares-signer.pem",
    "pares-intermediate.pem",
    "pares-root.pem",
  ]);
  return {
    directory: { authority, certificate, key },
    paRes: { certificates, key: paResKey },
  };
}

type MakeFamily = typeof makeDirectoryFamily;
type Texts = ReadonlyMap<string, string>;

function pick(texts: Texts, names: readonly string[]): readonly string[] {
  return names.map((name) => texts.get(name) ?? "");
}

async function openFamily(folder: string, nowMs: number, make: MakeFamily): Promise<Texts> {
  const { files, relations, produce } = make(nowMs);
  const kept = await readFamily(folder, files);
  if (kept !== undefined && isSound(kept, relations, nowMs)) return kept;
  const made = await produce();
  for (const [name, text] of made) await writeSecretly(join(folder, name), text);
  return made;
}

async function readFamily(folder: string, files: readonly string[]): Promise<Texts | undefined> {
  try {
    const read = files.map(async (name) => {
      const path = join(folder, name);
      return [name, await readFile(path, "utf8")] as const;
    });
    return new Map(await Promise.all(read));
  } catch {
    // Missing or unreadable: both are mended by making the family anew.
    return undefined;
  }
}

function isSound(texts: Texts, relations: Family["relations"], nowMs: number): boolean {
  try {
    return relations.every(({ certificate: name, issuer: issuerName, key }) => {
      const certificate = new X509Certificate(texts.get(name) ?? "");
      const issuer = new X509Certificate(texts.get(issuerName) ?? "");
      const hasKey =
        key === undefined || certificate.checkPrivateKey(createPrivateKey(texts.get(key) ?? ""));
      const lastsLong = Date.parse(certificate.validTo) - nowMs > renewalMs;
      return hasKey && lastsLong && certificate.verify(issuer.publicKey);
    });
  } catch {
    return false;
  }
}

/** In one move, so that a reader never sees half a file. */
async function writeSecretly(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.new`;
  await writeFile(draft, text, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, path);
}
