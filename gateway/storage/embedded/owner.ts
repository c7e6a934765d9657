/**
 * One gateway at a time owns the embedded database of a data folder. Without this a second
 * `npm start` would adopt the running server and, on its way out, stop it under the first.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { birthOf, errorCode, isAlive } from "./processes.ts";
import { StartProblem } from "./start-problem.ts";

export function takeOwnership(file: string): StartProblem | undefined {
  const owner = readOwner(file);
  if (owner !== undefined && isStillRunning(owner)) {
    return new StartProblem(
      `Another gateway (process ${owner.pid}) already runs on this data folder (${file}): ` +
        "stop it first, or set GW_DATA_DIR to another folder for this one.",
    );
  }
  rmSync(file, { force: true });
  try {
    writeFileSync(file, `${process.pid}\n${birthOf(process.pid)}\n`, { flag: "wx", mode: 0o600 });
    return undefined;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return takeOwnership(file);
    throw error;
  }
}

export function giveUpOwnership(file: string): void {
  if (readOwner(file)?.pid === process.pid) rmSync(file, { force: true });
}

function isStillRunning(owner: { readonly pid: number; readonly birth: string }): boolean {
  return isAlive(owner.pid) && birthOf(owner.pid) === owner.birth;
}

function readOwner(file: string) {
  try {
    const [pid = "", birth = ""] = readFileSync(file, "utf8").split("\n");
    return { pid: Number(pid), birth };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
