/** A database of a test file's own, with all tables and nothing in them. */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Problem } from "../../values/problem.ts";
import { type Database, openDatabase } from "../database.ts";
import { startEmbedded } from "../embedded.ts";
import { migrate } from "../migrate.ts";

export async function startDatabase(): Promise<{ database: Database; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-tables-test-"));
  // The database runs as another user when the tests are run by root.
  await chmod(folder, 0o711);
  const settings = { shared_buffers: "16MB" };
  const place = { folder: join(folder, "postgres"), report: () => undefined, settings };
  const server = await startEmbedded(place);
  if (server instanceof Problem) throw new Error(server.sentence);
  const options = { poolSize: 4, connectTimeoutMs: 5000, onLost: () => undefined };
  const database = openDatabase(server.url, options);
  await migrate(database, () => undefined);
  return {
    database,
    async stop() {
      await database.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
