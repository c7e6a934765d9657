/**
 * Reads and checks the PEM files of a TLS connection, for links to hosts, for directory servers and
 * for their results. Files are read again whenever they may have changed. If they cannot be used,
 * the reader keeps the contents that it read last.
 */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { messageOf } from "../values/problem.ts";
import { hours, type Instant, parseDate } from "../values/time.ts";

/** Certificate and key belong together. Without an authority, those of the system are used. */
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

/** Thrown at the start, if there is no earlier certificate to continue with. */
export class UnusableCertificate extends Error {}

/**
 * Reads the files. Rejects if a file is missing or invalid, or the certificate does not belong to
 * the key.
 */
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

/** Each authority is parsed here, because TLS skips one that it cannot read. */
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

/**
 * Returns the days until the first certificate of a chain expires, or undefined without a
 * certificate.
 */
export function daysLeft(certificates: string | undefined, now: Instant): number | undefined {
  const [own] = splitPem(certificates ?? "");
  const expiresAt = own === undefined ? undefined : parseDate(new X509Certificate(own).validTo);
  return expiresAt === undefined ? undefined : Math.floor((expiresAt - now) / hours(24));
}

/**
 * Makes a reader that reads the files at every call. If they cannot be used, it returns the
 * contents that it read last.
 */
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
