/** Makes a copy of the program as `docs/operating.md` installs it, with the built pages. */
import { execFile } from "node:child_process";
import { cp } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { buildSite } from "../browser/docs-site.ts";
import { repository } from "./document.ts";
import { buildPortal } from "./portal.ts";

/** Files that the copy leaves out, because packages for development are large. */
const left = /^(?:\.git|data|tests|node_modules\/(?:\.cache|@sparticuz|@biomejs|@typescript))$/;

/** Returns the folder of the copy, which belongs to this user and which no other user can write. */
export async function makeInstallation(parent: string): Promise<string> {
  await buildPortal();
  await buildSite();
  const folder = join(parent, "program");
  await cp(repository, folder, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !left.test(relative(repository, path)),
  });
  await promisify(execFile)("chmod", ["-R", "go-w", folder]);
  return folder;
}
