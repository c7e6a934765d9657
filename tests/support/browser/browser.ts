/**
 * Headless Chromium, as `tools/find-browser.ts` chooses it. Tests that need it import `test` from
 * here, which skips them on a machine without a browser.
 */
import { join } from "node:path";
import { test as testAnywhere } from "node:test";
import packaged from "@sparticuz/chromium";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type FrameLocator,
  type Page,
  type Route,
} from "playwright-core";
import { chooseBrowser, thisMachine } from "../../../tools/find-browser.ts";
import { atEnd, type Test } from "../clean-up.ts";
import { endOfFile } from "../end-of-file.ts";
import { isLongRun, numberOf } from "../series.ts";

const picturesSetting = "TOLLGATE_PICTURES";

const choice = chooseBrowser(thisMachine());
const isMissing = choice.kind === "none" || choice.kind === "installable";

export const test = isMissing ? testAnywhere.skip : testAnywhere;

/**
 * Defines a test of the long run. The short run covers the same behaviour without a browser or in
 * another test.
 */
export const testInLongRun: typeof test = isLongRun ? test : async () => undefined;

// The package's own switches would turn off the browser's security, which is what tests check. The
// disabled feature fails to take pictures on a busy machine.
const switches = ["--no-sandbox", "--disable-features=CDPScreenshotNewSurface"];

/**
 * The driver turns scripts off for each frame, and the browser keeps that for a whole process. If a
 * frame of another site, which has its own process, navigates the window to its site, the end of
 * the frame turns scripts on again in the process that now shows the window. Windows without
 * scripts are therefore opened in a browser that has one process for all sites.
 */
const oneProcessForAllSites = "--disable-site-isolation-trials";

const started = new Map<string, Promise<Browser>>();

/**
 * Opens a context. Browsers are started when they are first needed, and serve the whole test file.
 */
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
  const browser = await chromium.launch(await launchOptions(args));
  atEnd(endOfFile, () => browser.close());
  return browser;
}

/**
 * Opens a separate browser that keeps its profile in the folder. `close` writes the rest of the
 * profile.
 */
export async function openProfile(t: Test, folder: string, size: Size): Promise<BrowserContext> {
  const options = { ...(await launchOptions(switches)), ...sizes[size] };
  const context = await chromium.launchPersistentContext(folder, options);
  atEnd(t, () => context.close());
  return context;
}

async function launchOptions(args: string[]) {
  const executablePath = choice.kind === "program" ? choice.path : await packaged.executablePath();
  return { executablePath, args, headless: true, timeout: 120_000 };
}

export const sizes = {
  desk: { viewport: { width: 1280, height: 900 }, screen: { width: 1440, height: 960 } },
  laptop: { viewport: { width: 1280, height: 640 }, screen: { width: 1280, height: 768 } },
  phone: {
    viewport: { width: 390, height: 844 },
    screen: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
    deviceScaleFactor: 2,
  },
} as const;

export type Size = keyof typeof sizes;

const bothSizes = ["desk", "phone"] as const;

/**
 * Returns the window sizes of a test: both in the long run and when pictures are taken, otherwise
 * the one that the test's title chooses.
 */
export function sizesFor(title: string): readonly (typeof bothSizes)[number][] {
  if (isLongRun || process.env[picturesSetting] !== undefined) return bothSizes;
  return bothSizes.filter((_, index) => index === numberOf(title, bothSizes.length));
}

export type Window = {
  readonly size: Size;
  readonly context: BrowserContext;
  readonly page: Page;
  /** The errors and warnings that the browser reported on any page. */
  readonly troubles: readonly string[];
};

/** A warning about frames whose attributes the protocol requires. */
const harmless = /allow-scripts and allow-same-origin/;

export async function openWindow(
  t: Test,
  size: Size,
  options: BrowserContextOptions = {},
): Promise<Window> {
  // Without a graphics card, the browser would paint every frame of an animation on the processor.
  const somewhere = {
    locale: "en-AT",
    timezoneId: "Asia/Kolkata",
    ...({ reducedMotion: "reduce" } as const),
  };
  const context = await openContext({ ...sizes[size], ...somewhere, ...options });
  atEnd(t, () => context.close());
  const troubles: string[] = [];
  const note = (trouble: string) => {
    if (!harmless.test(trouble)) troubles.push(trouble);
  };
  context.on("console", (message) => note(`console: ${message.text()}`));
  context.on("weberror", (error) => note(`error: ${error.error().message}`));
  context.on("response", (response) => {
    if (response.status() >= 400) note(`${response.status()}: ${response.url()}`);
  });
  return { size, context, page: await context.newPage(), troubles };
}

/** Returns where the bank's page is shown: a phone has no room for a frame. */
export function bankIn(page: Page, size: Size): Page | FrameLocator {
  return size === "phone" ? page : page.frameLocator("#frame");
}

export type Pressed = { readonly button?: string; readonly code?: string };

/** Presses a button at the bank's page. Without a code, only the button is pressed. */
export async function press(
  bank: Page | FrameLocator,
  { button = "Confirm", code }: Pressed,
): Promise<void> {
  if (code !== undefined) await bank.locator("#code").fill(code);
  await bank.getByRole("button", { name: button }).click();
}

/** Takes a picture for people to look at, in the folder that TOLLGATE_PICTURES names. */
export async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env[picturesSetting];
  if (folder === undefined) return;
  await page.screenshot({ fullPage: true, path: join(folder, `${name}.png`) });
}

/**
 * Handles the next request for an address, and lets the later ones pass. The route stays: Chromium
 * may never answer a request during which a route is removed (microsoft/playwright#41802).
 */
export function routeOnce(
  page: Page,
  url: string,
  handle: (route: Route) => Promise<void> | undefined,
): Promise<unknown> {
  let isOver = false;
  return page.route(url, (route) => {
    if (isOver) return route.continue();
    isOver = true;
    return handle(route);
  });
}
