/**
 * A line to a host with certificates of the test: it speaks TLS with the gateway and plain TCP with
 * the bank, and records the client certificates that it received.
 */
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { createServer, type TLSSocket } from "node:tls";
import {
  type Issued,
  issue,
  makeKeys,
  writeCertificate,
  writePrivateKey,
} from "../../../sandbox-bank/certificates/certificate.ts";
import { atEnd, type Test } from "../clean-up.ts";

const dayMs = 86_400_000;

/** Makes an authority for a test. It issues certificates in PEM. */
export async function makeAuthority(name: string) {
  const root = await make({ name, purpose: "authority", days: 30 });
  return {
    ca: writeCertificate(root),
    /**
     * Issues a certificate for both ends of a connection on this machine. A negative number of days
     * makes one that has expired.
     */
    async issue(certificateName: string, days: number) {
      const made = await make({ name: certificateName, purpose: "tls", days }, root);
      return { cert: writeCertificate(made), key: writePrivateKey(made) };
    },
  };
}

type Wish = { readonly name: string; readonly purpose: "authority" | "tls"; readonly days: number };

async function make({ name, purpose, days }: Wish, issuer?: Issued): Promise<Issued> {
  const [validFrom, validUntil] = [-60, days].map((each) => new Date(Date.now() + each * dayMs));
  const dates = { validFrom: validFrom ?? new Date(), validUntil: validUntil ?? new Date() };
  return issue({ name, purpose, ...dates, keys: await makeKeys("ec") }, issuer);
}

export type Identity = { readonly cert: string; readonly key: string };

/** Writes files that a gate may name, and returns their paths. */
export async function writeIdentity(t: Test, folder: string, name: string, identity: Identity) {
  const [certificate, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  await writeFile(certificate, identity.cert);
  await writeFile(key, identity.key, { mode: 0o600 });
  atEnd(t, () => Promise.all([certificate, key].map((file) => rm(file, { force: true }))));
  return { certificate, key };
}

/**
 * Starts the line. With `clients`, the authority of client certificates, it demands one of them.
 */
export async function startTlsLine(
  t: Test,
  target: { readonly host: string; readonly port: number },
  identity: Identity & { readonly clients?: string },
) {
  const { cert, key, clients } = identity;
  const shown: string[] = [];
  const sockets = new Set<TLSSocket>();
  const demand = { ca: clients, requestCert: true, rejectUnauthorized: true };
  const server = createServer({ cert, key, ...(clients === undefined ? {} : demand) }, (near) => {
    shown.push(String(near.getPeerCertificate().subject?.CN ?? ""));
    sockets.add(near);
    const far = connect(target);
    near.pipe(far).pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
    }
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const dropAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  atEnd(t, () => {
    dropAll();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { port, shown, dropAll };
}
