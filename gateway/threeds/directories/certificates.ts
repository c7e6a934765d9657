/** The files of a directory server, read and found to fit together. */
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { DirectoryServer, DirectorySettings } from "./directory.ts";

export type Certificates = {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
  readonly paresRoots: readonly string[];
};

/** Of a directory server whose files cannot be read: nobody is trusted. */
export const noCertificates: Certificates = { cert: "", key: "", ca: "", paresRoots: [] };

/** Rejects when a file is missing, or is not what it should be. */
export async function readCertificates(settings: DirectorySettings): Promise<Certificates> {
  const { certificateFile, keyFile, authorityFile, paresRootsFile } = settings;
  const read = (file: string) => readFile(file, "utf8");
  const [cert = "", key = "", ca = ""] = await Promise.all(
    [certificateFile, keyFile, authorityFile].map(read),
  );
  const roots = paresRootsFile === undefined ? "" : await read(paresRootsFile);
  if (splitPem(ca).length === 0) throw new Error(`no certificate in ${authorityFile}`);
  try {
    createSecureContext({ cert, key, ca });
  } catch (error) {
    throw new Error(`${certificateFile} and ${keyFile} are of no use: ${messageOf(error)}`);
  }
  return { cert, key, ca, paresRoots: splitPem(roots) };
}

/** Why the files of those that have such a fault cannot be used, by name. */
export async function findFileFaults(
  servers: readonly DirectoryServer[],
): Promise<ReadonlyMap<string, string>> {
  const faults = new Map<string, string>();
  for (const { name, settings } of servers) {
    await readCertificates(settings).catch((error) => faults.set(name, messageOf(error)));
  }
  return faults;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function splitPem(text: string): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}
