/** Reads the processor time and the children of a process, as Linux counts them (proc(5)). */
import { readdirSync, readFileSync } from "node:fs";

/** Linux reports times in hundredths of a second on every architecture. */
const msPerTick = 10;

/** Returns times in milliseconds. All are zero for a process that has ended. */
export function readProcessTimes(pid: number): { readonly own: number; readonly ended: number } {
  const text = read(`/proc/${pid}/stat`);
  // The second field is the program's name in brackets, which may contain spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const ticks = (index: number) => Number(fields[index] ?? 0);
  return {
    own: (ticks(11) + ticks(12)) * msPerTick,
    /** The time of children that have ended and for which the process has waited. */
    ended: (ticks(13) + ticks(14)) * msPerTick,
  };
}

/** Returns the ids of the children that are running. */
export function childrenOf(pid: number): readonly number[] {
  const lists = threadsOf(pid).map((thread) => read(`/proc/${pid}/task/${thread}/children`));
  return lists.flatMap((list) => list.split(" ").filter(Boolean)).map(Number);
}

export function readCommandLine(pid: number): string {
  return read(`/proc/${pid}/cmdline`);
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Returns an empty text for a process that has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
