/**
 * One installation at a time in one clone: a folder that only one process can make. A holder that
 * died is known by its process number, or by not having touched its folder for a minute.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const retryEveryMs = 200;
const touchEveryMs = 5_000;
const untouchedMaxMs = 60_000;

/** `work` is handed a function to name the process that does the work and may outlive us. */
export async function holdLock(folder, work) {
  const remains = [];
  let waiting = false;
  while (!take(folder)) {
    const holder = readHolder(folder);
    if (holder !== undefined && isStale(holder)) {
      // Named after the dead holder: of several who see it dead, only one can move it there.
      const grave = `${folder}.${holder.name}`;
      if (rename(folder, grave)) remains.push(grave);
      continue;
    }
    if (!waiting && holder !== undefined) {
      process.stderr.write(`Waiting for another installation (process ${holder.pids.at(-1)}) …\n`);
      waiting = true;
    }
    await pause(retryEveryMs);
  }
  const touching = setInterval(
    () => fs.utimesSync(noteOf(folder), new Date(), new Date()),
    touchEveryMs,
  );
  try {
    return await work((pid) => fs.writeFileSync(join(folder, "worker"), String(pid)));
  } finally {
    clearInterval(touching);
    for (const path of [...remains, folder]) fs.rmSync(path, { recursive: true, force: true });
  }
}

/** Made aside with its note in it and moved into place: there is no lock without a holder. */
function take(folder) {
  const own = `${folder}.${process.pid}-new`;
  fs.rmSync(own, { recursive: true, force: true });
  fs.mkdirSync(own);
  fs.writeFileSync(noteOf(own), `${process.pid}-${Date.now()}`);
  fs.writeFileSync(join(own, ".gitignore"), "*\n");
  const taken = rename(own, folder);
  if (!taken) fs.rmSync(own, { recursive: true });
  return taken;
}

function rename(from, to) {
  try {
    fs.renameSync(from, to);
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST", "ENOENT", "EPERM"].includes(error.code)) return false;
    throw error;
  }
}

function readHolder(folder) {
  try {
    const name = fs.readFileSync(noteOf(folder), "utf8");
    const worker = join(folder, "worker");
    const pids = [name, ...(fs.existsSync(worker) ? [fs.readFileSync(worker, "utf8")] : [])];
    return {
      name,
      pids: pids.map((text) => Number.parseInt(text, 10)),
      touchedAt: fs.statSync(noteOf(folder)).mtimeMs,
    };
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

function isStale({ pids, touchedAt }) {
  return Date.now() - touchedAt > untouchedMaxMs || !pids.some(isAlive);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function noteOf(folder) {
  return join(folder, "holder");
}
