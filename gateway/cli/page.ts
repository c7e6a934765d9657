/** `gw page watch`: whether browsers receive the payment page as the gateway sends it. */
import type { Command } from "commander";
import { makeAssets } from "../pages/payment/assets.ts";
import { filesOf, findFileFault, findPageFaults } from "../pages/payment/page-watch.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { addCommands, type Output, type Session } from "./command.ts";

export function addPageCommands(page: Command): void {
  const purpose = "compare a payment page, as browsers receive it, with the inventory of scripts";
  addCommands(page, [["watch <url>", `${purpose}; exit code 1 if it differs`, watch]]);
}

async function watch(session: Session, address: string): Promise<Output> {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return new Problem("Give the address of a payment page or of a payment link.");
  }
  const found = await watchPage(url, walletMethodsOf(session)).catch(
    (error) => new Problem(`The page cannot be read: ${messageOf(error)}.`),
  );
  if (found instanceof Problem) return found;
  const { faults, files } = found;
  // The path grants access to the payment.
  const subject = url.origin;
  await session.audit.write({ action: "page watch", subject, after: { files, faults } });
  if (faults.length === 0) return { page: subject, files: files.join(", "), faults: 0 };
  session.findings.tell();
  return session.json ? { page: subject, files, faults } : faults.join("\n");
}

function walletMethodsOf({ config }: Session): readonly string[] {
  return [config.walletaMethod, config.walletbMethod].filter((method) => method !== "");
}

const timeoutMs = 15_000;
const faultsMax = 20;

/** With the headers of a browser: some intruders show themselves to nothing else. */
const browser = {
  "user-agent":
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) " +
    "Chrome/142.0.0.0 Safari/537.36",
  "accept": "text/html,application/xhtml+xml",
  "accept-language": "en",
  "sec-fetch-dest": "document",
  "sec-fetch-mode": "navigate",
};

export async function watchPage(url: URL, walletMethods: readonly string[]) {
  const receive = (address: URL) =>
    fetch(address, {
      ...{ headers: browser, redirect: "manual" },
      signal: AbortSignal.timeout(timeoutMs),
    });
  const assets = makeAssets();
  const { status, headers, ...answer } = await readAnswer(await receive(url));
  const body = answer.content.toString("utf8");
  const isSecure = url.protocol === "https:";
  const page = { status, isSecure, headers, body, walletMethods };
  const faults = [...findPageFaults(page, assets)];
  const folder = new URL(url.pathname.endsWith("/") ? ".." : ".", url);
  const files = [...new Set(filesOf(body))].slice(0, faultsMax);
  for (const name of files) {
    const { content } = await readAnswer(await receive(new URL(name, folder)));
    faults.push(...[findFileFault(name, content, assets) ?? []].flat());
  }
  return { files, faults: faults.slice(0, faultsMax) };
}

async function readAnswer(answer: Response) {
  const { status, headers } = answer;
  return { status, headers, content: Buffer.from(await answer.arrayBuffer()) };
}
