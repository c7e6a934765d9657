/**
 * `npm run release`: makes what a release needs beside its files. It checks the lock file, writes
 * the software bill of materials (CycloneDX, by `npm sbom`) to `release/sbom.cdx.json`, checks that
 * the bill contains every package of the lock file, and asks the registry for known
 * vulnerabilities.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./repository.ts";

type LockedPackage = {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
};
type Lock = { readonly packages: Readonly<Record<string, LockedPackage>> };
type Bill = { readonly bomFormat?: string; readonly components?: readonly Component[] };
type Component = {
  readonly name: string;
  readonly version: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
};

const billFile = "release/sbom.cdx.json";

if (import.meta.main) process.exitCode = release();

export function readLock(): Lock {
  return JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
}

/** Returns the packages without an integrity hash, and download addresses. */
export function findLockFaults({ packages }: Lock): readonly string[] {
  return Object.entries(packages).flatMap(([path, { integrity = "", resolved = "", link }]) => {
    const isOurs = link === true || !path.includes("node_modules/");
    return [
      ...(isOurs || integrity.startsWith("sha512-") ? [] : [`${path} has no integrity hash.`]),
      ...(resolved.includes("://") ? [`${path} has a download address.`] : []),
    ];
  });
}

/** Returns the packages of the lock file that the bill lacks, or has with another hash. */
export function findBillFaults({ bomFormat, components = [] }: Bill, { packages }: Lock) {
  const named = new Map<string, string>(
    components.map((each) => [`${each.name}@${each.version}`, hashOf(each)]),
  );
  const wanted = Object.entries(packages).filter(([, { integrity }]) => integrity !== undefined);
  const missing = wanted.flatMap(([path, { version, integrity }]) => {
    const name = `${path.slice(path.lastIndexOf("node_modules/") + 13)}@${version}`;
    return named.get(name) === integrity ? [] : [`${name} is missing or has another hash.`];
  });
  return [...(bomFormat === "CycloneDX" ? [] : ["It is not in the CycloneDX format."]), ...missing];
}

function hashOf({ hashes = [] }: Component): string {
  const found = hashes.find(({ alg }) => alg === "SHA-512")?.content ?? "";
  return `sha512-${Buffer.from(found, "hex").toString("base64")}`;
}

export type Advice = { readonly sentence: string; readonly isFault: boolean };

/**
 * Reads the output of `npm audit --json`. A registry without that service answers with an error.
 */
export function judgeAudit(output: string): Advice {
  const counts = parseAudit(output)?.metadata?.vulnerabilities;
  if (counts === undefined) {
    const sentence =
      "The registry answers no audit: compare the bill of materials with a list of known " +
      "vulnerabilities before you release.";
    return { sentence, isFault: false };
  }
  const { high = 0, critical = 0, total = 0 } = counts;
  const sentence = `npm audit knows ${total} vulnerabilities: ${high} high, ${critical} critical.`;
  return { sentence, isFault: high + critical > 0 };
}

type Audited = {
  readonly metadata?: { readonly vulnerabilities?: Readonly<Record<string, number>> };
};

function parseAudit(output: string): Audited | undefined {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}

function release(): number {
  const lock = readLock();
  // With `--omit dev`, npm would also leave out packages that production and development share.
  const bill = runNpm(["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"]);
  const faults = [...findLockFaults(lock), ...findBillFaults(JSON.parse(bill || "{}"), lock)];
  mkdirSync(join(root, "release"), { recursive: true });
  if (faults.length === 0) writeFileSync(join(root, billFile), bill);
  const { sentence, isFault } = judgeAudit(runNpm(["audit", "--omit=dev", "--json"]));
  const written = faults.length === 0 ? [`${billFile} is complete.`] : faults;
  process.stdout.write(`${[...written, sentence].join("\n")}\n`);
  return faults.length > 0 || isFault ? 1 : 0;
}

/** Returns the standard output, even if npm ends with 1, as `npm audit` does with findings. */
function runNpm(words: readonly string[]): string {
  const options = { cwd: root, encoding: "utf8", maxBuffer: 100_000_000 } as const;
  return spawnSync("npm", words, options).stdout ?? "";
}
