/** Who the bank is in 3-D Secure: at the directory server, and where a PARes is signed. */
import { mkdir } from "node:fs/promises";
import { makeDirectoryFamily, makePaResFamily } from "./families.ts";
import { openFamily, type Texts } from "./open-family.ts";

/** What the directory server shows, both as a server and as a client. */
export type DirectoryIdentity = {
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
};

/** What the ACS signs a PARes with; the signer's own certificate first. */
export type PaResIdentity = { readonly certificates: readonly string[]; readonly key: string };

export type Identities = { readonly directory: DirectoryIdentity; readonly paRes: PaResIdentity };

export async function openIdentities(folder: string, nowMs: number): Promise<Identities> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const [directory, paRes] = await Promise.all([
    openFamily(folder, nowMs, makeDirectoryFamily(nowMs)),
    openFamily(folder, nowMs, makePaResFamily(nowMs)),
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

function pick(texts: Texts, names: readonly string[]): readonly string[] {
  return names.map((name) => texts.get(name) ?? "");
}
