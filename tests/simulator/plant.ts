/**
 * Plants each fault of the list in a copy of the gateway and runs the simulator there until it
 * finds the fault, for ten minutes at most: `npm run simulate:planted -- [words of its name]`.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PlantedFault, plantedFaults } from "./planted-faults.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const limitS = 600;
const words = process.argv.slice(2).join(" ");

for (const fault of plantedFaults.filter(({ name }) => name.includes(words))) {
  const { isFound, seeds, tookS, law } = await search(fault);
  const verdict = isFound
    ? `found by seed ${seeds} in ${tookS} s: ${law}`
    : `not found in ${tookS} s`;
  console.log(`${fault.name}: ${verdict}`);
  if (!isFound) process.exitCode = 1;
}

async function search(fault: PlantedFault) {
  const copy = mkdtempSync(join(tmpdir(), "tollgate-planted-"));
  try {
    for (const folder of ["gateway", "tests/simulator", "protocols", "package.json"]) {
      cpSync(join(root, folder), join(copy, folder), { recursive: true });
    }
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    plant(fault, join(copy, "gateway", fault.file));
    return await simulateIn(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function plant({ name, right, wrong, also }: PlantedFault, file: string): void {
  let text = readFileSync(file, "utf8");
  for (const place of [{ right, wrong }, ...(also ? [also] : [])]) {
    if (text.split(place.right).length !== 2) {
      throw new Error(`cannot plant "${name}": the place has changed`);
    }
    text = text.replace(place.right, () => place.wrong);
  }
  writeFileSync(file, text);
}

async function simulateIn(copy: string) {
  const startedAt = performance.now();
  const limits = ["--seeds", "1000000", "--seconds", String(limitS), "--whole", "--workers", "1"];
  const child = spawn(process.execPath, [join(copy, "tests/simulator/simulate.ts"), ...limits], {
    ...{ cwd: copy, stdio: ["ignore", "pipe", "inherit"] },
  });
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const status = await new Promise((resolve) => child.on("close", resolve));
  const tookS = Math.round((performance.now() - startedAt) / 1000);
  const [, seed = "", law = ""] = /Seed (\d+) breaks a law:\n {2}([^:]+)/.exec(text) ?? [];
  return { isFound: status === 1 && seed !== "", seeds: seed, tookS, law };
}
