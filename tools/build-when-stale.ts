/**
 * Builds a folder `dist` if its sources have changed since the last build. A hash of the sources is
 * kept beside the build. A new build is made in another folder and then moved into place, so that a
 * running gateway always finds a complete one.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

type Build = {
  /** The name of what is built, for the sentence about the build. */
  readonly name: string;
  /** The folder that contains `dist`. */
  readonly root: string;
  /** Patterns of the source files, relative to the root. */
  readonly sources: readonly string[];
  readonly build: (folder: string) => Promise<void>;
  readonly describe: (folder: string) => string;
};

/** Returns a sentence about a new build, or undefined if the last build is up to date. */
export async function buildWhenStale(options: Build): Promise<string | undefined> {
  const { name, root, build, describe } = options;
  const built = join(root, "dist");
  const stamp = join(built, "sources.txt");
  const hash = hashSources(options);
  const isBuilt = () => fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === hash;
  if (isBuilt()) return undefined;
  const began = Date.now();
  const fresh = join(root, `dist-${process.pid}`);
  try {
    await build(fresh);
    // Another process may have finished the same build in the meantime, and its gateway may be
    // reading it.
    if (isBuilt()) return undefined;
    fs.writeFileSync(join(fresh, "sources.txt"), hash);
    fs.rmSync(built, { recursive: true, force: true });
    replace(fresh, built, stamp);
  } finally {
    fs.rmSync(fresh, { recursive: true, force: true });
  }
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  return `${name} built in ${seconds} s: ${describe(built)}.`;
}

/** Moves the build into place. If two processes build at the same time, the first build stays. */
function replace(fresh: string, built: string, stamp: string): void {
  try {
    fs.renameSync(fresh, built);
  } catch (error) {
    if (!fs.existsSync(stamp)) throw error;
  }
}

function hashSources({ root, sources }: Build): string {
  const names = fs.globSync([...sources], {
    cwd: root,
    exclude: (name) => /^(dist.*|node_modules)$/.test(name),
  });
  const hash = createHash("sha256");
  // The lock file stands for the versions of the packages that go into the build.
  for (const name of [...names.sort(), "../package-lock.json"]) {
    hash
      .update(`${name}\0`)
      .update(fs.readFileSync(join(root, name)))
      .update("\0");
  }
  return hash.digest("hex");
}

/**
 * Compresses the files once, at the build, because the best quality takes ten times as long as
 * quality 6.
 */
export function compressFiles(folder: string, pattern: string, quality = 11): void {
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: quality } };
  for (const name of fs.globSync(pattern, { cwd: folder })) {
    const file = join(folder, name);
    const content = fs.readFileSync(file);
    fs.writeFileSync(`${file}.br`, brotliCompressSync(content, options));
    fs.writeFileSync(`${file}.gz`, gzipSync(content));
  }
}
