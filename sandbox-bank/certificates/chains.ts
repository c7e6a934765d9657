/**
 * Certificate chains in files. They are issued on the first start and used again on later ones. If
 * a file is missing, damaged, about to expire or of another chain, the whole chain is issued again.
 * Keys of authorities without a key file are discarded after they have signed.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type CertificateRequest,
  type Issued,
  issue,
  type KeyKind,
  makeKeys,
  writeCertificate,
  writePrivateKey,
} from "./certificate.ts";

/**
 * The certificates of a chain, with each issuer before those that it issues. A root is its own
 * issuer.
 */
export type Chain = {
  readonly certificates: readonly ChainCertificate[];
  readonly keyKind: KeyKind;
  /** The reader of the certificates. Private keys are readable by the sandbox bank only. */
  readonly readableBy: Reader;
  /** How long before now the certificates begin to be valid. */
  readonly backdatedDays: number;
};

type ChainCertificate = Omit<CertificateRequest, "validFrom" | "validUntil"> & {
  readonly file: string;
  readonly issuer: string;
  readonly keyFile?: string;
};

/** Certificates and keys in PEM, by file name. */
type ChainFiles = ReadonlyMap<string, string>;

type Reader = "owner" | "everyone";

/** The directory server and the gateway, each for both ends of a connection. */
// biome-ignore format: a table
export const directoryChain: Chain = {
  keyKind: "ec",
  readableBy: "owner",
  backdatedDays: 1,
  certificates: [
    { file: "directory-ca.pem", issuer: "directory-ca.pem", purpose: "authority", name: "Sandbox Directory CA" },
    { file: "directory.pem",    issuer: "directory-ca.pem", purpose: "tls",       name: "Sandbox Directory Server", keyFile: "directory.key" },
    { file: "gateway.pem",      issuer: "directory-ca.pem", purpose: "tls",       name: "Sandbox 3DS Server",       keyFile: "gateway.key" },
  ],
};

/** The chain of the signer of PARes messages. Its keys are RSA, as those of the networks were. */
// biome-ignore format: a table
const paResChain: Chain = {
  keyKind: "rsa",
  readableBy: "owner",
  backdatedDays: 1,
  certificates: [
    { file: "pares-root.pem",         issuer: "pares-root.pem",         purpose: "authority", name: "Sandbox PARes Root" },
    { file: "pares-intermediate.pem", issuer: "pares-root.pem",         purpose: "authority", name: "Sandbox PARes Intermediate" },
    { file: "pares-signer.pem",       issuer: "pares-intermediate.pem", purpose: "signing",   name: "Sandbox ACS", keyFile: "pares-signer.key" },
  ],
};

/** The chain of the acquirer host and of the client certificate of gateways. */
// biome-ignore format: a table
const hostChain: Chain = {
  keyKind: "ec",
  readableBy: "owner",
  backdatedDays: 1,
  certificates: [
    { file: "host-ca.pem",     issuer: "host-ca.pem", purpose: "authority", name: "Sandbox Acquirer CA" },
    { file: "host.pem",        issuer: "host-ca.pem", purpose: "tls",       name: "Sandbox Acquirer Host",    keyFile: "host.key" },
    { file: "host-client.pem", issuer: "host-ca.pem", purpose: "tls",       name: "Sandbox Acquirer Gateway", keyFile: "host-client.key" },
  ],
};

export type Identities = Awaited<ReturnType<typeof openIdentities>>;

export async function openIdentities(folder: string, nowMs: number) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const chains = [directoryChain, paResChain, hostChain];
  const opened = await Promise.all(chains.map((chain) => openChain(folder, chain, nowMs)));
  const files = new Map(opened.flatMap((each) => [...each]));
  const read = (name: string) => files.get(name) ?? "";
  const paResCertificates = ["pares-signer.pem", "pares-intermediate.pem", "pares-root.pem"];
  return {
    /** The certificate that the directory server presents, both as a server and as a client. */
    directory: {
      ca: read("directory-ca.pem"),
      cert: read("directory.pem"),
      key: read("directory.key"),
    },
    /** The certificate that the acquirer host presents on TLS connections. */
    host: { ca: read("host-ca.pem"), cert: read("host.pem"), key: read("host.key") },
    /** The key with which the ACS signs a PARes. The signer's own certificate is the first one. */
    paRes: { certificates: paResCertificates.map(read), key: read("pares-signer.key") },
  };
}

export async function openChain(folder: string, chain: Chain, nowMs: number): Promise<ChainFiles> {
  const names = chain.certificates.flatMap(({ file, keyFile = [] }) => [file, keyFile].flat());
  const read = (name: string) => readFile(join(folder, name), "utf8").catch(() => "");
  const texts = await Promise.all(names.map(read));
  const stored = new Map(names.map((name, index) => [name, texts[index] ?? ""]));
  if (isValid(stored, chain, nowMs)) return stored;

  const files = await makeChainFiles(chain, nowMs);
  for (const [name, text] of files) {
    const isKey = chain.certificates.some(({ keyFile }) => keyFile === name);
    await writeAtomically(join(folder, name), text, isKey ? "owner" : chain.readableBy);
  }
  return files;
}

/** Issues a chain. Returns its certificates by file name. */
export async function issueChain(
  chain: Chain,
  nowMs: number,
): Promise<ReadonlyMap<string, Issued>> {
  const validity = makeValidity(chain, nowMs);
  const makeRequest = async (row: ChainCertificate) => ({
    ...row,
    ...validity,
    keys: await makeKeys(chain.keyKind),
  });
  const issued = new Map<string, Issued>();
  for (const request of await Promise.all(chain.certificates.map(makeRequest))) {
    issued.set(request.file, await issue(request, issued.get(request.issuer)));
  }
  return issued;
}

export async function makeChainFiles(chain: Chain, nowMs: number): Promise<ChainFiles> {
  const issued = await issueChain(chain, nowMs);
  const files = new Map<string, string>();
  for (const { file, keyFile } of chain.certificates) {
    const each = issued.get(file);
    if (each === undefined) continue;
    files.set(file, writeCertificate(each));
    if (keyFile !== undefined) files.set(keyFile, writePrivateKey(each));
  }
  return files;
}

/** Returns a validity until ten years from now. */
export function makeValidity({ backdatedDays }: Pick<Chain, "backdatedDays">, nowMs: number) {
  const validUntil = new Date(nowMs);
  validUntil.setUTCFullYear(validUntil.getUTCFullYear() + 10);
  return { validFrom: new Date(nowMs - backdatedDays * dayMs), validUntil };
}

const dayMs = 24 * 3_600_000;
const renewalMs = 30 * dayMs;

function isValid(files: ChainFiles, { certificates }: Chain, nowMs: number): boolean {
  const read = (name: string) => files.get(name) ?? "";
  try {
    return certificates.every(({ file, issuer, keyFile }) => {
      const certificate = new X509Certificate(read(file));
      const hasKey =
        keyFile === undefined || certificate.checkPrivateKey(createPrivateKey(read(keyFile)));
      const isLasting = Date.parse(certificate.validTo) - nowMs > renewalMs;
      const { publicKey } = new X509Certificate(read(issuer));
      return hasKey && isLasting && certificate.verify(publicKey);
    });
  } catch {
    return false;
  }
}

/** Writes a file by renaming, so that a reader never sees half of it. */
export async function writeAtomically(
  path: string,
  text: string,
  readableBy: Reader,
): Promise<void> {
  const mode = readableBy === "owner" ? 0o600 : 0o644;
  const draft = `${path}.${process.pid}.new`;
  await writeFile(draft, text, { mode });
  await chmod(draft, mode);
  await rename(draft, path);
}
