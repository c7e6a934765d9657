/**
 * Headless Chromium: the one out of the npm package, so that every machine tests with the same, or
 * the program that TOLLGATE_TEST_BROWSER names. The package has it for Linux on x64 only.
 */
import { after } from "node:test";
import packaged from "@sparticuz/chromium";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
} from "playwright-core";

const setting = "TOLLGATE_TEST_BROWSER";

// The package's own switches turn the browser's security off, which is what tests look at. The
// feature is turned on by the driver, and fails to take pictures on a busy machine.
const switches = ["--no-sandbox", "--disable-features=CDPScreenshotNewSurface"];

/**
 * The driver turns scripts off for each frame, and the browser keeps that for the whole page of a
 * process. When a frame of another site, in a process of its own, leads the window to its site, the
 * frame's end turns scripts on again in the very process that now shows the window. So windows
 * without scripts are opened in a browser that has one process for all sites.
 */
const oneProcessForAllSites = "--disable-site-isolation-trials";

const started = new Map<string, Promise<Browser>>();

after(async () => {
  for (const browser of started.values()) await (await browser).close();
});

/** Browsers are started when they are first needed, and serve the whole test file. */
export async function openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const args =
    options.javaScriptEnabled === false ? [...switches, oneProcessForAllSites] : switches;
  const key = args.join(" ");
  const browser = started.get(key) ?? startBrowser(args);
  started.set(key, browser);
  const context = await (await browser).newContext(options);
  context.setDefaultTimeout(120_000);
  return context;
}

async function startBrowser(args: string[]): Promise<Browser> {
  const named = process.env[setting];
  if (named === undefined && `${process.platform} ${process.arch}` !== "linux x64") {
    throw new Error(`The packaged browser is for x64 Linux: set ${setting} to a Chromium's path.`);
  }
  const executablePath = named ?? (await packaged.executablePath());
  return chromium.launch({ executablePath, args, headless: true, timeout: 120_000 });
}
