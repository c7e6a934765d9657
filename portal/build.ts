/**
 * Builds the portal into `portal/dist` when its sources have changed since the last build. A hash
 * of the sources is kept beside the build; the new build is made in another folder and moved into
 * place, so that a gateway that runs meanwhile has a whole one.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import type { UserConfig } from "vite";

const root = import.meta.dirname;
const built = join(root, "dist");
const stamp = join(built, "sources.txt");

const config: UserConfig = {
  ...{ root, base: "/portal/", configFile: false, logLevel: "error" },
  build: {
    emptyOutDir: true,
    target: "es2023",
    modulePreload: { polyfill: false },
    // The page's policy lets no inline script run.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
};

/** Answers a sentence about a new build; nothing when the last one is up to date. */
export async function buildPortal(): Promise<string | undefined> {
  const hash = hashSources();
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === hash) return undefined;
  const began = Date.now();
  const fresh = join(root, `dist-${process.pid}`);
  try {
    // Loaded when it is needed: most starts find the portal built.
    const { build } = await import("vite");
    await build({ ...config, build: { ...config.build, outDir: fresh } });
    fs.writeFileSync(join(fresh, "sources.txt"), hash);
    compress(fresh);
    replace(fresh);
  } finally {
    fs.rmSync(fresh, { recursive: true, force: true });
  }
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  return `Portal built in ${seconds} s: ${describeSize()}.`;
}

/** Another process may have built the same meanwhile: then its build stays. */
function replace(fresh: string): void {
  fs.rmSync(built, { recursive: true, force: true });
  try {
    fs.renameSync(fresh, built);
  } catch (error) {
    if (!fs.existsSync(stamp)) throw error;
  }
}

function hashSources(): string {
  const names = fs.globSync("**/*.{ts,tsx,css,html,svg,json}", {
    cwd: root,
    exclude: (name) => /^(dist.*|node_modules)$/.test(name),
  });
  const hash = createHash("sha256");
  // Also the versions of the packages that go into the build.
  for (const name of [...names.sort(), "../package-lock.json"]) {
    hash
      .update(`${name}\0`)
      .update(fs.readFileSync(join(root, name)))
      .update("\0");
  }
  return hash.digest("hex");
}

/** Once for all: it takes longer than the first screen may. */
function compress(folder: string): void {
  for (const name of fs.globSync("assets/*.{js,css}", { cwd: folder })) {
    const file = join(folder, name);
    fs.writeFileSync(`${file}.br`, brotliCompressSync(fs.readFileSync(file)));
  }
}

/** What a browser loads before the first screen, and all of it. */
function describeSize(): string {
  const page = fs.readFileSync(join(built, "index.html"), "utf8");
  const sizes = fs.globSync("assets/*.{js,css}", { cwd: built }).map((name) => {
    const bytes = fs.statSync(join(built, `${name}.br`)).size;
    return { bytes, isFirst: page.includes(name) };
  });
  const sum = (these: typeof sizes) => these.reduce((total, { bytes }) => total + bytes, 0) / 1000;
  const first = sum(sizes.filter(({ isFirst }) => isFirst));
  return `${first.toFixed(0)} kB for the first page, ${sum(sizes).toFixed(0)} kB in all`;
}

if (import.meta.main) {
  const done = await buildPortal();
  if (done !== undefined) process.stderr.write(`${done}\n`);
}
