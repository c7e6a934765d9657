/** PostgreSQL 15, the oldest version that the gateway supports, from an npm package for tests. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { Problem } from "../../values/problem.ts";
import * as system from "../embedded/system.ts";

/** Starts the server. Returns undefined if npm has no package for this machine. */
export async function startPostgres15() {
  const found: unknown = await import(`postgres-15-${process.platform}-${process.arch}`).catch(
    () => undefined,
  );
  if (found === undefined) return undefined;
  const { initdb, postgres } = found as Readonly<Record<"initdb" | "postgres", string>>;
  const folder = await mkdtemp(join(tmpdir(), "tollgate-15-"));
  await chmod(folder, 0o711);
  const user = system.chooseDatabaseUser(folder);
  if (user instanceof Problem) throw new Error(user.sentence);
  const data = join(folder, "data");
  await mkdir(data, { mode: 0o700 });
  system.changeOwner(user, data);
  const made = await system.runAs(user, initdb, [
    ...[`--pgdata=${data}`, "--username=tollgate", "--auth=trust", "--locale=C", "--no-sync"],
    "--encoding=UTF8",
  ]);
  if (made.failed) throw new Error(made.output);
  const settings = ["listen_addresses=", `unix_socket_directories=${data}`, "fsync=off"];
  const parameters = settings.flatMap((setting) => ["-c", setting]);
  const options = { ...user.ids, cwd: "/", env: system.cleanEnvironment() };
  const server = spawn(postgres, ["-D", data, ...parameters], { ...options, stdio: "ignore" });
  const url = `postgres://tollgate@${encodeURIComponent(data)}:5432/postgres`;
  await untilConnected(url);
  return {
    url,
    async stop() {
      server.kill("SIGINT");
      await once(server, "exit");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function untilConnected(url: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const client = new pg.Client(url);
    client.on("error", () => undefined);
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (tries === 200) throw error;
      await pause(50);
    }
  }
}
