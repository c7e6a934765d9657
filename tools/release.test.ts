/** The lock file, the pinned Node and the bill of materials of a release. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { findBillFaults, findLockFaults, judgeAudit, readLock } from "./release.ts";
import { root } from "./repository.ts";

const readJson = (path: string) => JSON.parse(fs.readFileSync(join(root, path), "utf8"));

test("every package of the lock file has an integrity hash and no download address", () => {
  const lock = readLock();
  const taken = { packages: { "node_modules/a": { resolved: "https://a.example/a.tgz" } } };

  assert.deepEqual(findLockFaults(lock), []);
  assert.ok(Object.keys(lock.packages).length > 200);
  assert.deepEqual(findLockFaults(taken), [
    "node_modules/a has no integrity hash.",
    "node_modules/a has a download address.",
  ]);
  assert.doesNotMatch(fs.readFileSync(join(root, ".npmrc"), "utf8"), /registry\s*=/);
});

test("the pinned Node is of one version, and has a checksum for each platform", () => {
  const { optionalDependencies } = readJson("package.json");
  const { version, sha256 } = readJson("tools/node-checksums.json");

  assert.equal(fs.readFileSync(join(root, ".node-version"), "utf8").trim(), version);
  assert.deepEqual(new Set(Object.values(optionalDependencies)), new Set([version]));
  assert.deepEqual(Object.keys(sha256), Object.keys(optionalDependencies));
  for (const digest of Object.values(sha256)) assert.match(String(digest), /^[0-9a-f]{64}$/);
});

test("an installation links the Node that has its checksum, and refuses any other", (t) => {
  const { clone, installed, place } = makeClone(t, "the expected program");

  assert.equal(place().status, 0);
  assert.equal(
    fs.realpathSync(join(clone, "node_modules/node/bin/node")),
    fs.realpathSync(installed),
  );

  fs.writeFileSync(installed, "another program");
  const { status, stderr } = place();
  assert.equal(status, 1);
  assert.match(stderr, /does not have the SHA-256 of tools\/node-checksums\.json/);
  assert.ok(!fs.existsSync(join(clone, "node_modules/node/bin/node")));
  assert.equal(fs.statSync(`${installed}.refused`).mode & 0o111, 0);
});

test("a bill of materials lacks no package of the lock file, nor its hash", () => {
  const content = createHash("sha512").update("a").digest();
  const integrity = `sha512-${content.toString("base64")}`;
  const lock = { packages: { "node_modules/@x/a": { version: "1.0.0", integrity } } };
  const hashes = [{ alg: "SHA-512", content: content.toString("hex") }];
  const component = { name: "@x/a", version: "1.0.0", hashes };

  const faultsOf = (components: readonly (typeof component)[]) =>
    findBillFaults({ bomFormat: "CycloneDX", components }, lock);
  assert.deepEqual(faultsOf([component]), []);
  assert.deepEqual(faultsOf([]), ["@x/a@1.0.0 is missing or has another hash."]);
  assert.equal(faultsOf([{ ...component, hashes: [] }]).length, 1);
  assert.equal(findBillFaults({}, lock).length, 2);
});

test("npm's bill of materials has every package of the lock file", () => {
  const words = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
  const { stdout } = spawnSync("npm", words, { cwd: root, encoding: "utf8", maxBuffer: 1e8 });

  assert.deepEqual(findBillFaults(JSON.parse(stdout), readLock()), []);
});

test("serious vulnerabilities stop a release, and a registry without an audit is reported", () => {
  const audit = (counts: object) =>
    judgeAudit(JSON.stringify({ metadata: { vulnerabilities: counts } }));

  assert.equal(audit({ total: 2, high: 0, critical: 0, low: 2 }).isFault, false);
  assert.equal(audit({ total: 1, high: 1, critical: 0 }).isFault, true);
  const silent = judgeAudit('{ "statusCode": 405, "message": "Method Not Allowed" }');
  assert.match(silent.sentence, /^The registry answers no audit/);
  assert.equal(silent.isFault, false);
});

function makeClone(t: TestContext, program: string) {
  const clone = fs.mkdtempSync(join(tmpdir(), "pinned-node-test-"));
  t.after(() => fs.rmSync(clone, { recursive: true }));
  const name = `node-${process.platform}-${process.arch}`;
  const installed = join(clone, "node_modules", name, "bin", "node");
  fs.mkdirSync(join(clone, "tools"));
  fs.mkdirSync(join(installed, ".."), { recursive: true });
  fs.writeFileSync(installed, program, { mode: 0o755 });
  const sha256 = { [name]: createHash("sha256").update(program).digest("hex") };
  fs.writeFileSync(join(clone, "tools/node-checksums.json"), JSON.stringify({ sha256 }));
  const tool = join(clone, "tools/pinned-node.mjs");
  fs.copyFileSync(join(import.meta.dirname, "pinned-node.mjs"), tool);
  const place = () => spawnSync(process.execPath, [tool], { encoding: "utf8" });
  return { clone, installed, place };
}
