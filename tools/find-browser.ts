/**
 * Chooses the browser of the tests: the one that TOLLGATE_TEST_BROWSER names, the packaged one
 * where it runs, or an installed one. On Debian and Ubuntu, root can install one.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";

export const browserSetting = "TOLLGATE_TEST_BROWSER";
export const browserPackage = "chromium-headless-shell";

export type BrowserChoice =
  | { readonly kind: "program"; readonly path: string }
  | { readonly kind: "packaged" | "installable" | "none" };

export type Machine = {
  readonly platform: string;
  readonly arch: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly isRoot: boolean;
  /** The text of /etc/os-release, which names a Linux distribution; empty elsewhere. */
  readonly release: string;
  readonly isProgram: (path: string) => boolean;
};

/** The only platform of the packaged browser. */
const packagedFor = "linux x64";

const installedNames = [
  ...[browserPackage, "chromium", "chromium-browser"],
  ...["google-chrome", "google-chrome-stable", "chrome"],
  ...["microsoft-edge", "microsoft-edge-stable"],
];

const macPlaces = ["Chromium", "Google Chrome", "Microsoft Edge"].map(
  (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
);

export function chooseBrowser(machine: Machine): BrowserChoice {
  const { environment, platform, arch, release, isRoot } = machine;
  const named = environment[browserSetting];
  if (named !== undefined && named !== "") return { kind: "program", path: named };
  if (`${platform} ${arch}` === packagedFor) return { kind: "packaged" };
  const path = placesOf(machine).find(machine.isProgram);
  if (path !== undefined) return { kind: "program", path };
  const isDebian = /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(release);
  return { kind: isDebian && isRoot ? "installable" : "none" };
}

function placesOf({ environment, platform }: Machine): readonly string[] {
  const folders = (environment["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const onPath = installedNames.flatMap((name) => folders.map((folder) => join(folder, name)));
  return platform === "darwin" ? [...onPath, ...macPlaces] : onPath;
}

export function thisMachine(): Machine {
  const { platform, arch, env: environment } = process;
  const isRoot = process.getuid?.() === 0;
  return { platform, arch, environment, isRoot, release: readRelease(), isProgram };
}

function readRelease(): string {
  try {
    return readFileSync("/etc/os-release", "utf8");
  } catch {
    return "";
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the last line that the package manager printed if it fails. */
export function installBrowser(): string | undefined {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const words of [
    ["update"],
    ["install", "--yes", "--no-install-recommends", browserPackage],
  ]) {
    const { status, error, stderr } = spawnSync("apt-get", ["--quiet=2", ...words], { env });
    if (status !== 0) return error?.message ?? String(stderr).trim().split("\n").at(-1);
  }
  return undefined;
}
