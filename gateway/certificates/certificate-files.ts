/**
 * The PEM files of a TLS connection, read and checked together: for links to hosts, for directory
 * servers and for the results that these post. Files are read again whenever they may have changed;
 * the reader keeps what it read last when they cannot be used.
 */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { messageOf } from "../values/problem.ts";
import { hours, type Instant, parseDate } from "../values/time.ts";

/** A certificate and its key belong together; without an authority the system's count. */
type CertificateFiles = {
  readonly certificateFile?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly authorityFile?: string | undefined;
};

export type CertificateTexts = {
  readonly cert?: string;
  readonly key?: string;
  readonly ca?: string;
};

/** Thrown at the start, when there is no earlier certificate to continue with. */
export class UnusableCertificate extends Error {}

/** Rejects when a file is missing or invalid, or the certificate does not belong to the key. */
export async function readCertificateFiles(files: CertificateFiles): Promise<CertificateTexts> {
  const { certificateFile = "", keyFile = "", authorityFile = "" } = files;
  const read = async (file: string) => (file === "" ? "" : readFile(file, "utf8"));
  const [cert, key, ca] = await Promise.all([
    ...([read(certificateFile), read(keyFile), read(authorityFile)] as const),
  ]);
  if (authorityFile !== "") checkAuthorities(authorityFile, ca);
  const texts = {
    ...(certificateFile === "" ? {} : { cert, key }),
    ...(authorityFile === "" ? {} : { ca }),
  };
  try {
    createSecureContext(texts);
  } catch (error) {
    throw new Error(`${certificateFile} and ${keyFile} cannot be used: ${messageOf(error)}`);
  }
  return texts;
}

/** TLS skips an authority that it cannot read, so each is read here. */
function checkAuthorities(file: string, text: string): void {
  const authorities = splitPem(text);
  if (authorities.length === 0) throw new Error(`no certificate in ${file}`);
  try {
    for (const authority of authorities) new X509Certificate(authority);
  } catch (error) {
    throw new Error(`${file} cannot be used: ${messageOf(error)}`);
  }
}

export function splitPem(text: string): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}

/** The days until the first certificate of a chain expires; undefined without a certificate. */
export function daysLeft(certificates: string | undefined, now: Instant): number | undefined {
  const [own] = splitPem(certificates ?? "");
  const expiresAt = own === undefined ? undefined : parseDate(new X509Certificate(own).validTo);
  return expiresAt === undefined ? undefined : Math.floor((expiresAt - now) / hours(24));
}

/** Reads the files at every call; when they cannot be used, those that it read last are. */
export function makeCertificateReader(files: CertificateFiles, onFault: (cause: string) => void) {
  let latest: CertificateTexts | undefined;
  return async (): Promise<CertificateTexts> => {
    try {
      latest = await readCertificateFiles(files);
    } catch (error) {
      onFault(messageOf(error));
      if (latest === undefined) throw error;
    }
    return latest;
  };
}
