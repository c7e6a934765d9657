/**
 * A family of certificates on disk: made on the first start, used again on later ones, and made
 * anew as a whole when one of them is missing, damaged, about to expire or not of this family.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Family } from "./families.ts";

export type Texts = ReadonlyMap<string, string>;

const renewalMs = 30 * 24 * 3_600_000;

export async function openFamily(folder: string, nowMs: number, family: Family): Promise<Texts> {
  const { files, relations, produce } = family;
  const kept = await readFamily(folder, files);
  if (kept !== undefined && isSound(kept, relations, nowMs)) return kept;
  const made = await produce();
  const { publicFiles = [] } = family;
  for (const [name, text] of made) {
    const isPublic = publicFiles.includes(name);
    await writeKept(join(folder, name), text, isPublic ? "everybody" : "owner");
  }
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
export async function writeKept(
  path: string,
  text: string,
  readableBy: "owner" | "everybody",
): Promise<void> {
  const mode = readableBy === "owner" ? 0o600 : 0o644;
  const draft = `${path}.${process.pid}.new`;
  await writeFile(draft, text, { mode });
  await chmod(draft, mode);
  await rename(draft, path);
}
