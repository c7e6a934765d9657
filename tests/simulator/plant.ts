/**
 * Plants each fault of the list in a copy of the gateway and runs seeds there, on two processes,
 * until one breaks a law that the gateway itself keeps with the same seed, for ten minutes at most:
 * `npm run simulate:planted -- [words of its name]`. The exit status is 1 when one is not found.
 * With `--short` the seeds are those of `npm test`, with `--long` those of `npm test -- long`.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PlantedFault, plantedFaults, readPlanted } from "./planted-faults.ts";
import { longSeeds, ordersPerSeed } from "./seeds.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const limitMs = 600_000;
const processes = 2;
const isShort = process.argv.includes("--short");
const isLong = process.argv.includes("--long");
const orders = isShort || isLong ? ["--orders", `${ordersPerSeed}`] : [];
const words = process.argv
  .slice(2)
  .filter((word) => !word.startsWith("--"))
  .join(" ");

type Finding = { readonly seed: number; readonly law: string };

const chosen = plantedFaults.filter(({ name }) => name.includes(words));
const gateway = join(root, "gateway");
const sources = new Map(chosen.map((fault) => [fault, readPlanted(fault, gateway)]));
const rows: string[] = [];
for (const fault of chosen) {
  const { finding, tookS } = await search(fault);
  const { seed = "", law = "not found" } = finding ?? {};
  const row = `| ${fault.name} | ${fault.fixedBy ?? "made up"} | ${seed} | ${tookS} | ${law} |`;
  console.log(row);
  rows.push(row);
  if (finding === undefined) process.exitCode = 1;
}
console.log("\n| Fault | Fixed by | Seed | Seconds | Law |\n|---|---|---|---|---|");
console.log(rows.join("\n"));

async function search(fault: PlantedFault) {
  const startedAt = performance.now();
  const copy = copyWith(fault);
  const found = new AbortController();
  const signal = AbortSignal.any([found.signal, AbortSignal.timeout(limitMs)]);
  let finding: Finding | undefined;
  try {
    const shares = Array.from({ length: processes }, async (_, index) => {
      const own = await searchFrom(index + 1, copy, signal);
      finding ??= own;
      if (own !== undefined) found.abort();
    });
    await Promise.all(shares);
  } finally {
    found.abort();
    rmSync(copy, { recursive: true, force: true });
  }
  return { finding, tookS: Math.round((performance.now() - startedAt) / 1000) };
}

function copyWith(fault: PlantedFault): string {
  const copy = mkdtempSync(join(tmpdir(), "tollgate-planted-"));
  for (const folder of ["gateway", "tests/simulator", "protocols", "package.json"]) {
    cpSync(join(root, folder), join(copy, folder), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  for (const [file, text] of sources.get(fault) ?? []) {
    writeFileSync(join(copy, "gateway", file), text);
  }
  return copy;
}

/** Runs every second seed. A seed with which the unchanged gateway breaks a law does not count. */
async function searchFrom(first: number, copy: string, signal: AbortSignal) {
  for (let from = first; ; ) {
    const seeds = isShort ? ["--short"] : ["--seeds", `${isLong ? longSeeds : 1_000_000}`];
    const bounds = ["--from", `${from}`, "--every", `${processes}`, ...seeds, ...orders];
    const finding = await runSeeds(copy, bounds, signal);
    if (finding === undefined) return undefined;
    const own = await runSeeds(root, ["--seed", `${finding.seed}`, ...orders], signal);
    if (own === undefined) return signal.aborted ? undefined : finding;
    console.log(`seed ${own.seed} breaks a law without the fault: ${own.law}`);
    from = finding.seed + processes;
  }
}

/** Runs seeds until one breaks a law. */
async function runSeeds(folder: string, bounds: readonly string[], signal: AbortSignal) {
  const script = join(folder, "tests/simulator/simulate.ts");
  const options = [...bounds, "--workers", "1", "--whole"];
  const child = spawn(process.execPath, [script, ...options], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
    signal,
  });
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  // An aborted child reports that as an error.
  child.on("error", () => undefined);
  const end = await new Promise((resolve) =>
    child.on("close", (status, killedBy) => resolve(status ?? killedBy)),
  );
  if (signal.aborted) return undefined;
  const [, seed, law = ""] = /Seed (\d+) breaks a law:\n {2}([^:]+)/.exec(text) ?? [];
  if (seed !== undefined) return { seed: Number(seed), law };
  // The process was killed, perhaps for lack of memory. The other process continues with its seeds.
  if (typeof end !== "string" || folder === root) assert.equal(end, 0, "the simulator failed");
  if (end !== 0) console.log(`a process of the simulator was ended by ${end}`);
  return undefined;
}
