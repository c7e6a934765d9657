/** The command line as an operator runs it beside a gateway: a process of its own, to its end. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { cleanEnvironment } from "./program.ts";
import type { World } from "./world.ts";

export type Ran = { readonly code: number; readonly printed: string; readonly complaint: string };

const program = join(import.meta.dirname, "../../gateway/cli/gw.ts");

/** A world, and what the operator has set beyond what the world's gateway has. */
type Place = Pick<World, "installation" | "dataDir"> & {
  readonly settings?: Readonly<Record<string, string>>;
};

export function runGw(
  { installation, dataDir, settings = {} }: Place,
  ...words: readonly string[]
): Promise<Ran> {
  const own = { GW_DATABASE_URL: installation.databaseUrl, GW_DATA_DIR: dataDir };
  const env = { ...cleanEnvironment(), ...own, ...settings };
  const { promise, resolve } = Promise.withResolvers<Ran>();
  const child = execFile(process.execPath, [program, ...words], { env }, (_, printed, complaint) =>
    resolve({ code: child.exitCode ?? -1, printed, complaint }),
  );
  return promise;
}

/** What a command prints for programs. */
export async function readGw(world: Place, ...words: readonly string[]): Promise<unknown> {
  const { code, printed, complaint } = await runGw(world, ...words, "--json");
  if (code !== 0) throw new Error(`gw ${words.join(" ")} ended with ${code}: ${complaint}`);
  return JSON.parse(printed);
}
