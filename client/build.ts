/**
 * `npm run build -w @tollgate/client`: builds the package to publish in `client/dist`: ES modules
 * with types, the README and a manifest without dependencies. The compiler sees no types of Node,
 * so a file that needs Node does not build.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const root = import.meta.dirname;

export function buildClient(folder = join(root, "dist")): void {
  rmSync(folder, { recursive: true, force: true });
  const require = createRequire(import.meta.url);
  const compiler = join(dirname(require.resolve("typescript/package.json")), "bin/tsc");
  execFileSync(process.execPath, [compiler, "-p", root, "--outDir", folder], { stdio: "inherit" });
  const { name, version, description, license, type } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const manifest = {
    name,
    version,
    description,
    license,
    type,
    exports: {
      ".": { types: "./client.d.ts", default: "./client.js" },
      "./hosted-fields": { types: "./hosted-fields.d.ts" },
    },
    sideEffects: false,
    engines: { node: ">=22" },
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  copyFileSync(join(root, "hosted-fields.d.ts"), join(folder, "hosted-fields.d.ts"));
  copyFileSync(join(root, "README.md"), join(folder, "README.md"));
  copyFileSync(join(root, "../LICENSE"), join(folder, "LICENSE"));
}

if (import.meta.main) buildClient();
