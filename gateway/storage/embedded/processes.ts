/**
 * What can be known about a process from outside: does it live, is it the one that a file speaks
 * of. A number alone is not enough, because after a restart of the machine it belongs to another.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** False for a process that has ended but was not yet collected by its parent. */
export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === "EPERM" && !isZombie(pid);
  }
  return !isZombie(pid);
}

/** When the process began, in the system's own words; the same for as long as it lives. */
export function birthOf(pid: number): string {
  return statOf(pid)?.birth ?? askPs(pid, "lstart=");
}

/** The program and its arguments; empty when the system does not tell. */
export function commandOf(pid: number): readonly string[] {
  const line = readOrNothing(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
  if (line !== undefined) return line.split("\0").filter((word) => word !== "");
  return askPs(pid, "command=").split(" ").filter(Boolean);
}

export function workingFolderOf(pid: number): string | undefined {
  return readOrNothing(() => readlinkSync(`/proc/${pid}/cwd`));
}

/** Processes at work in the folder, as far as the system tells. */
export function findProcessesIn(folder: string): readonly number[] {
  if (process.platform !== "linux") return [];
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => workingFolderOf(pid) === folder);
}

export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function isZombie(pid: number): boolean {
  const state = statOf(pid)?.state ?? askPs(pid, "stat=");
  return state.startsWith("Z");
}

/** Linux only. The program's name stands in brackets and may hold any character. */
function statOf(pid: number): { readonly state: string; readonly birth: string } | undefined {
  const line = readOrNothing(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  if (line === undefined) return undefined;
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", birth: fields[19] ?? "" };
}

function askPs(pid: number, column: string): string {
  if (process.platform === "linux") return "";
  return String(spawnSync("ps", ["-p", String(pid), "-o", column]).stdout ?? "").trim();
}

function readOrNothing(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
