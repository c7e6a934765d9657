/** A headless Chromium: the system's where there is one, else the one out of the npm package. */
import { existsSync } from "node:fs";
import { after } from "node:test";
import packaged from "@sparticuz/chromium";
import { type Browser, chromium } from "playwright-core";

// biome-ignore format: a table
const places = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

const started: Browser[] = [];

after(async () => {
  for (const browser of started) await browser.close();
});

export async function startBrowser(): Promise<Browser> {
  const own = places.find((path) => existsSync(path));
  const executablePath = own ?? (await packaged.executablePath());
  const browser = await chromium.launch({ executablePath, args: switches, headless: true });
  started.push(browser);
  return browser;
}

// The package's own switches turn the browser's security off, which is what tests look at. The
// feature is turned on by the driver, and fails to take pictures on a busy machine.
const switches = ["--no-sandbox", "--disable-features=CDPScreenshotNewSurface"];
