/** Builds the portal into `portal/dist` when its sources have changed since the last build. */
import * as fs from "node:fs";
import { join } from "node:path";
import type { InlineConfig } from "vite";
import { buildWhenStale, compressFiles } from "../tools/build-when-stale.ts";

const root = import.meta.dirname;

const config: InlineConfig = {
  root,
  base: "/portal/",
  configFile: false,
  logLevel: "error",
  build: {
    emptyOutDir: true,
    target: "es2023",
    modulePreload: { polyfill: false },
    // Every script stays a file, because the page's content security policy forbids inline scripts.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
};

/** The files with labels that the portal shares with the gateway. */
const labels = ["field", "labels"].map((name) => `../gateway/administration/${name}.ts`);

/** Returns a sentence about the build, or undefined if the last build is up to date. */
export function buildPortal(): Promise<string | undefined> {
  return buildWhenStale({
    name: "Portal",
    root,
    sources: ["**/*.{ts,tsx,css,html,svg,json}", ...labels],
    async build(folder) {
      // Most starts find the portal built, so Vite is loaded only for a build.
      const { build } = await import("vite");
      await build({ ...config, build: { ...config.build, outDir: folder } });
      compressFiles(folder, "assets/*.{js,css}");
    },
    describe: describeSize,
  });
}

/** Describes the compressed size of what a browser loads for the first screen, and of all files. */
function describeSize(built: string): string {
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
