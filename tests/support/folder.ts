/** A folder of the test, for what its programs and servers write. */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atEnd, type Test } from "./clean-up.ts";

export async function makeFolder(t: Test, name = "test"): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `tollgate-${name}-`));
  // PostgreSQL never runs as root, so its user must be able to enter the folder.
  await chmod(folder, 0o711);
  // The removal is repeated, because a program of the test may still be writing there.
  atEnd(t, () => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}
