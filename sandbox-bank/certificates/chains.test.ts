/** Certificates are real, kept in files, and replaced when necessary. */
import assert from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openIdentities } from "./chains.ts";

const now = Date.parse("2026-11-15T08:00:00Z");
const dayMs = 24 * 3_600_000;

type Cleanup = { after(clean: () => Promise<void>): void };

async function makeFolder(t: Cleanup): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-tls-"));
  t.after(() => rm(folder, { recursive: true }));
  return join(folder, "bank", "tls");
}

async function readAll(folder: string): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(folder)).sort();
  const texts = names.map(async (name) => [name, await readFile(join(folder, name), "utf8")]);
  return Object.fromEntries(await Promise.all(texts));
}

/** The files of a first start, which the tests that only read them share. */
const made = await makeFolder({ after });
const first = await openIdentities(made, now);

test("the first start makes everything, readable by its owner only", async () => {
  const names = (await readdir(made)).sort();
  assert.deepEqual(names, [
    "directory-ca.pem",
    "directory.key",
    "directory.pem",
    "gateway.key",
    "gateway.pem",
    "host-ca.pem",
    "host-client.key",
    "host-client.pem",
    "host.key",
    "host.pem",
    "pares-intermediate.pem",
    "pares-root.pem",
    "pares-signer.key",
    "pares-signer.pem",
  ]);
  for (const name of names) {
    assert.equal((await stat(join(made, name))).mode & 0o777, 0o600, name);
  }
});

test("certificates form chains, with the flags, usages and names of their purpose", async () => {
  const files = await readAll(made);
  const open = (name: string) => new X509Certificate(files[name] ?? "");

  // biome-ignore format: a table
  const chains = [
    ["directory-ca.pem",       "directory-ca.pem",       true,  "ec"],
    ["directory.pem",          "directory-ca.pem",       false, "ec"],
    ["gateway.pem",            "directory-ca.pem",       false, "ec"],
    ["host-ca.pem",            "host-ca.pem",            true,  "ec"],
    ["host.pem",               "host-ca.pem",            false, "ec"],
    ["host-client.pem",        "host-ca.pem",            false, "ec"],
    ["pares-root.pem",         "pares-root.pem",         true,  "rsa"],
    ["pares-intermediate.pem", "pares-root.pem",         true,  "rsa"],
    ["pares-signer.pem",       "pares-intermediate.pem", false, "rsa"],
  ] as const;
  for (const [name, issuerName, isAuthority, kind] of chains) {
    const [certificate, issuer] = [open(name), open(issuerName)];
    assert.ok(certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey), name);
    assert.equal(certificate.ca, isAuthority, name);
    assert.equal(certificate.publicKey.asymmetricKeyType, kind, name);
    const years = (Date.parse(certificate.validTo) - now) / (365.25 * dayMs);
    assert.ok(years > 9.9 && years < 10.1, name);
  }
  for (const name of ["directory", "gateway", "host", "host-client"]) {
    const certificate = open(`${name}.pem`);
    assert.ok(certificate.checkPrivateKey(createPrivateKey(files[`${name}.key`] ?? "")));
    for (const address of ["127.0.0.1", "::1"]) assert.ok(certificate.checkIP(address), address);
    assert.equal(certificate.checkHost("localhost"), "localhost");
    assert.deepEqual(certificate.keyUsage, ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]);
  }
});

test("the second start uses what the first made", async () => {
  const files = await readAll(made);

  assert.deepEqual(await openIdentities(made, now + dayMs), first);
  assert.deepEqual(await readAll(made), files);
});

test("a chain is issued again when it is about to expire", async (t) => {
  const folder = await makeFolder(t);
  await cp(made, folder, { recursive: true });
  const tenYears = Date.parse("2036-11-15T08:00:00Z") - now;

  assert.deepEqual(await openIdentities(folder, now + tenYears - 31 * dayMs), first);
  const renewed = await openIdentities(folder, now + tenYears - 29 * dayMs);
  assert.notEqual(renewed.directory.cert, first.directory.cert);
  assert.notDeepEqual(renewed.paRes.certificates, first.paRes.certificates);
});

test("a chain is issued again if one of its files is damaged, missing or of another chain", async (t) => {
  const [folder, other] = [await makeFolder(t), await makeFolder(t)];
  await cp(made, folder, { recursive: true });
  await openIdentities(other, now);
  const foreign = await readAll(other);

  const damages: readonly (() => Promise<void>)[] = [
    () => writeFile(join(folder, "gateway.pem"), "no certificate"),
    () => rm(join(folder, "directory.key")),
    () => writeFile(join(folder, "gateway.key"), foreign["gateway.key"] ?? ""),
    () => writeFile(join(folder, "directory-ca.pem"), foreign["directory-ca.pem"] ?? ""),
  ];
  for (const damage of damages) {
    const before = await readAll(folder);
    await damage();
    const { directory } = await openIdentities(folder, now);

    const after = await readAll(folder);
    assert.notEqual(after["directory.pem"], before["directory.pem"]);
    assert.equal(after["pares-root.pem"], before["pares-root.pem"]);
    const gateway = new X509Certificate(after["gateway.pem"] ?? "");
    assert.ok(gateway.verify(new X509Certificate(directory.ca).publicKey));
  }
});
