/** The choice of a browser for the tests, on every kind of machine. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type BrowserChoice, chooseBrowser, type Machine } from "./find-browser.ts";

const debian = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n';
const mint = 'ID=linuxmint\nID_LIKE="ubuntu debian"\n';
const fedora = "ID=fedora\n";
const chromeOnMac = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

const program = (path: string): BrowserChoice => ({ kind: "program", path });

type Case = Partial<Omit<Machine, "isProgram">> & {
  readonly title: string;
  readonly installed?: readonly string[];
  readonly choice: BrowserChoice;
};

// biome-ignore format: a table
const cases: readonly Case[] = [
  { title: "the setting comes first",                environment: { TOLLGATE_TEST_BROWSER: "/opt/chrome" }, arch: "x64", choice: program("/opt/chrome") },
  { title: "an empty setting names no browser",      environment: { TOLLGATE_TEST_BROWSER: "" }, arch: "x64", choice: { kind: "packaged" } },
  { title: "x64 Linux uses the packaged browser",    arch: "x64", installed: ["/usr/bin/chromium"], choice: { kind: "packaged" } },
  { title: "ARM Linux uses an installed Chromium",   installed: ["/usr/bin/chromium"], choice: program("/usr/bin/chromium") },
  { title: "the headless shell precedes Chromium",   installed: ["/usr/bin/chromium", "/usr/bin/chromium-headless-shell"], choice: program("/usr/bin/chromium-headless-shell") },
  { title: "Chromium precedes Chrome",               installed: ["/opt/bin/google-chrome", "/usr/bin/chromium"], choice: program("/usr/bin/chromium") },
  { title: "Chrome is found on the PATH",            installed: ["/opt/bin/google-chrome"], choice: program("/opt/bin/google-chrome") },
  { title: "Edge is found on the PATH",              installed: ["/usr/bin/microsoft-edge"], choice: program("/usr/bin/microsoft-edge") },
  { title: "a program off the PATH is not found",    installed: ["/opt/elsewhere/chromium"], choice: { kind: "none" } },
  { title: "macOS finds Chrome at its usual place",  platform: "darwin", installed: [chromeOnMac], choice: program(chromeOnMac) },
  { title: "macOS on x64 has no packaged browser",   platform: "darwin", arch: "x64", choice: { kind: "none" } },
  { title: "root on Debian can install a browser",   isRoot: true, release: debian, choice: { kind: "installable" } },
  { title: "root on a relative of Debian can, too",  isRoot: true, release: mint, choice: { kind: "installable" } },
  { title: "another user on Debian has none",        release: debian, choice: { kind: "none" } },
  { title: "root on another distribution has none",  isRoot: true, release: fedora, choice: { kind: "none" } },
];

for (const { title, installed = [], choice, environment, ...differences } of cases) {
  test(title, () => {
    const chosen = chooseBrowser({
      platform: "linux",
      arch: "arm64",
      isRoot: false,
      release: "",
      ...differences,
      environment: { PATH: "/opt/bin::/usr/bin", ...environment },
      isProgram: (path) => installed.includes(path),
    });

    assert.deepEqual(chosen, choice);
  });
}
