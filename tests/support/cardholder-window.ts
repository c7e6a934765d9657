/**
 * A cardholder's window: a real browser on a desk or a telephone, which notes whatever it complains
 * of, and the bank's page in it, be it in a frame or alone.
 */
import { join } from "node:path";
import type { BrowserContext, BrowserContextOptions, FrameLocator, Page } from "playwright-core";
import { openContext } from "./browser.ts";
import type { Test } from "./world.ts";

export const sizes = {
  desk: { viewport: { width: 1280, height: 900 }, screen: { width: 1440, height: 960 } },
  laptop: { viewport: { width: 1280, height: 640 }, screen: { width: 1280, height: 768 } },
  phone: {
    ...{ viewport: { width: 390, height: 844 }, screen: { width: 390, height: 844 } },
    ...{ isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
  },
} as const;

export type Size = keyof typeof sizes;

export type Window = {
  readonly size: Size;
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the browser complained of, on whatever page. */
  readonly troubles: readonly string[];
};

/** The browser warns of frames that the protocol wants just so. */
const harmless = /allow-scripts and allow-same-origin/;

export async function openWindow(
  t: Test,
  size: Size,
  options: BrowserContextOptions = {},
): Promise<Window> {
  const somewhere = { locale: "en-AT", timezoneId: "Asia/Kolkata" };
  const context = await openContext({ ...sizes[size], ...somewhere, ...options });
  t.after(() => context.close());
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

/** Where the bank's page is shown: a telephone has no room for a frame. */
export function bankIn(page: Page, size: Size): Page | FrameLocator {
  return size === "phone" ? page : page.frameLocator("#frame");
}

export type Pressed = { readonly button?: string; readonly code?: string };

/** At the bank's page, wherever it is; without a code only the button is pressed. */
export async function press(
  bank: Page | FrameLocator,
  { button = "Confirm", code }: Pressed,
): Promise<void> {
  if (code !== undefined) await bank.locator("#code").fill(code);
  await bank.getByRole("button", { name: button }).click();
}

/** For people to look at, in the folder that TOLLGATE_PICTURES names. */
export async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env["TOLLGATE_PICTURES"];
  if (folder === undefined) return;
  await page.screenshot({ fullPage: true, path: join(folder, `${name}.png`) });
}
