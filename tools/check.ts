/**
 * `npm test`: types, format and lint, then every test of the workspaces, group by group. A group
 * (`npm test -- scenarios`) or a file (`npm test -- path/to/file.test.ts`) can be run alone.
 */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { startEmbedded } from "@tollgate/gateway/embedded";
import { Problem } from "@tollgate/gateway/problem";
import { runFiles, type Tally } from "./run-files.ts";

type Step = { readonly name: string; readonly program: string; readonly parameters: string[] };
type Group = {
  readonly name: string;
  readonly folders: readonly string[];
  /** Files at a time. What is measured by the clock has the cores to itself. */
  readonly concurrency: number;
  /** How long one file may take before it counts as hung. */
  readonly minutes: number;
  readonly sharesDatabase: boolean;
};

const root = resolve(import.meta.dirname, "..");

// biome-ignore format: a table
const steps: readonly Step[] = [
  { name: "types",           program: "typescript/bin/tsc",     parameters: ["--noEmit", "-p", "."] },
  { name: "format and lint", program: "@biomejs/biome/bin/biome", parameters: ["check"] },
];

// biome-ignore format: a table
const groups: readonly Group[] = [
  { name: "unit",      concurrency: 2, minutes: 2,  sharesDatabase: false,
    folders: ["protocols", "gateway", "sandbox-bank", "client", "portal", "benchmarks", "tools"] },
  { name: "scenarios", concurrency: 2, minutes: 5,  sharesDatabase: true,  folders: ["tests/scenarios", "tests/contract"] },
  { name: "crash",     concurrency: 2, minutes: 10, sharesDatabase: true,  folders: ["tests/crash"] },
  { name: "load",      concurrency: 1, minutes: 10, sharesDatabase: false, folders: ["tests/load"] },
  { name: "browser",   concurrency: 2, minutes: 10, sharesDatabase: true,  folders: ["tests/browser"] },
];

process.chdir(root);
process.exitCode = await main(process.argv.slice(2));

async function main(wanted: readonly string[]): Promise<number> {
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  const unknown = wanted.filter((name) => !isGroup(name) && !existsSync(name));
  if (unknown.length > 0) {
    say(`There is no group and no test file called ${unknown.join(", ")}; the groups are:`);
    say(groups.map(({ name }) => name).join(", "));
    return close({ ...tally, failed: unknown.length });
  }
  if (wanted.length === 0) {
    for (const step of steps) tally.failed += await runStep(step);
    tally.failed += complainOfStrays();
  }
  for (const group of groups) {
    const files = filesOf(group).filter((file) => isWanted(file, group, wanted));
    if (files.length === 0) continue;
    say(`\n${group.name}`);
    const stop = group.sharesDatabase ? await startDatabase() : undefined;
    await runFiles({ files, ...group, tally, say });
    await stop?.();
  }
  return close(tally);
}

/** One PostgreSQL for all files of a group; a file that is run alone starts its own. */
async function startDatabase(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-check-"));
  // The database runs as another user when the tests are run by root.
  chmodSync(folder, 0o711);
  const server = await startEmbedded({
    folder: join(folder, "postgres"),
    report: () => undefined,
    // No power failure is simulated, so nothing has to reach the disk.
    settings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off" },
  });
  if (server instanceof Problem) throw new Error(server.sentence);
  process.env["TOLLGATE_TEST_FOLDER"] = folder;
  return async () => {
    delete process.env["TOLLGATE_TEST_FOLDER"];
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}

/** A run in which nothing was tried proves nothing. */
function close({ passed, failed, skipped }: Tally): number {
  const nothing = passed + failed === 0;
  if (nothing) say("\nNo test was run.");
  say(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  return failed > 0 || nothing ? 1 : 0;
}

async function runStep({ name, program, parameters }: Step): Promise<0 | 1> {
  const began = Date.now();
  const child = spawn(process.execPath, [join("node_modules", program), ...parameters], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  child.stderr.on("data", (chunk) => (output += String(chunk)));
  const code = await new Promise((done) => child.on("close", done));
  say(`${code === 0 ? "✔" : "✖"} ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  if (code === 0) return 0;
  say(output.trim());
  return 1;
}

/** A test that no group runs would look as if it passed. */
function complainOfStrays(): number {
  const known = new Set(groups.flatMap(filesOf));
  const strays = findTests(".").filter((file) => !known.has(file));
  for (const file of strays) say(`✖ ${file} belongs to no group of tools/check.ts`);
  return strays.length;
}

function filesOf({ folders }: Group): readonly string[] {
  return folders.flatMap(findTests).sort();
}

function findTests(folder: string): string[] {
  const skip = ["node_modules", "data", "dist"];
  const found = globSync(`${folder}/**/*.test.ts`, {
    exclude: (path) => skip.includes(path.split("/").at(-1) ?? ""),
  });
  return found.map((file) => relative(".", file));
}

function isGroup(name: string): boolean {
  return groups.some((group) => group.name === name);
}

function isWanted(file: string, group: Group, wanted: readonly string[]): boolean {
  if (wanted.length === 0 || wanted.includes(group.name)) return true;
  return wanted.some((name) => !isGroup(name) && `${file}/`.startsWith(`${relative(".", name)}/`));
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
