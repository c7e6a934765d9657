/**
 * Links the Node that runs the gateway, from a package for each platform. npm runs this file after
 * every installation. It compares the program with its SHA-256 in `node-checksums.json` and links
 * `node_modules/node/bin/node` to it. With `--renew` it downloads the packages that the lock file
 * fixes, and writes their checksums. It is plain JavaScript, because any Node from version 20 runs
 * it.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const problem = process.argv[2] === "--renew" ? renewChecksums() : placeNode();
if (problem !== undefined) process.stderr.write(`${problem}\n`);
process.exitCode = problem === undefined ? 0 : 1;

/** Returns a sentence if the installed Node is missing or is not the expected program. */
function placeNode() {
  const { platform, arch } = process;
  const { sha256 } = readJson("tools/node-checksums.json");
  const name = Object.keys(sha256).find((each) => each.endsWith(`-${platform}-${arch}`));
  if (name === undefined) return `There is no pinned Node for ${platform} on ${arch}.`;
  const installed = join(root, "node_modules", name, "bin", "node");
  const link = join(root, "node_modules", "node", "bin", "node");
  fs.rmSync(link, { force: true });
  if (!fs.existsSync(installed)) {
    return `The package ${name} is not installed: run npm ci without --omit=optional.`;
  }
  if (digest("sha256", installed, "hex") !== sha256[name]) {
    // The refused program is kept for an examination, and cannot be run by mistake.
    fs.renameSync(installed, `${installed}.refused`);
    fs.chmodSync(`${installed}.refused`, 0o400);
    return (
      `The program of ${name} does not have the SHA-256 of tools/node-checksums.json. It was ` +
      `renamed to ${installed}.refused: find out where it came from before you install again.`
    );
  }
  fs.mkdirSync(dirname(link), { recursive: true });
  fs.symlinkSync(relative(dirname(link), installed), link);
  return undefined;
}

/** Writes the checksums. It accepts only packages with the integrity hash of the lock file. */
function renewChecksums() {
  const { optionalDependencies: wanted } = readJson("package.json");
  const { packages } = readJson("package-lock.json");
  const folder = fs.mkdtempSync(join(tmpdir(), "pinned-node-"));
  const sha256 = {};
  try {
    for (const [name, version] of Object.entries(wanted)) {
      const words = ["pack", `${name}@${version}`, "--silent", "--pack-destination", folder];
      const file = join(folder, execFileSync("npm", words, { encoding: "utf8" }).trim());
      const integrity = `sha512-${digest("sha512", file, "base64")}`;
      if (packages[`node_modules/${name}`]?.integrity !== integrity) {
        return `${name}@${version} is not the package of package-lock.json.`;
      }
      execFileSync("tar", ["-xzf", file, "-C", folder, "package/bin/node"]);
      sha256[name] = digest("sha256", join(folder, "package", "bin", "node"), "hex");
    }
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
  const [version] = Object.values(wanted);
  const text = JSON.stringify({ version, sha256 }, undefined, 2);
  fs.writeFileSync(join(root, "tools", "node-checksums.json"), `${text}\n`);
  return undefined;
}

function readJson(path) {
  return JSON.parse(fs.readFileSync(join(root, path), "utf8"));
}

function digest(algorithm, file, encoding) {
  return createHash(algorithm).update(fs.readFileSync(file)).digest(encoding);
}
