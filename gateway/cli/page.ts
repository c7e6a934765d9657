/** `gw page watch`: whether browsers receive the payment page as the gateway sends it. */
import { type Command, Option } from "commander";
import { makeAssets } from "../pages/payment/assets.ts";
import { checkPage, type Expected, findFileFault } from "../pages/payment/page-watch.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { addCommands, type Output, type Session } from "./command.ts";

type WatchOptions = { readonly embedOrigins: string; readonly otherHeaders: string };

export function addPageCommands(page: Command): void {
  const purpose = "compare a payment page, as browsers receive it, with the gateway's inventory";
  // biome-ignore format: a table
  const options = [
    new Option("--embed-origins <origins>", "sites that may embed the page, as the endpoint names them, by commas").default(""),
    new Option("--other-headers <names>", "headers that your proxy adds, by commas").default(""),
  ];
  addCommands(page, [["watch <url>", `${purpose}; exit code 1 if it differs`, watch, options]]);
}

async function watch(session: Session, address: string, options: WatchOptions): Promise<Output> {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return new Problem("Give the address of a payment page or of a payment link.");
  }
  const found = await watchPage(url, {
    embedOrigins: splitList(options.embedOrigins),
    walletMethods: walletMethodsOf(session),
    otherHeaders: splitList(options.otherHeaders.toLowerCase()),
  }).catch((error) => new Problem(`The page cannot be read: ${messageOf(error)}.`));
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

function splitList(text: string): readonly string[] {
  return text.split(",").flatMap((each) => each.trim() || []);
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

export async function watchPage(url: URL, expected: Expected) {
  const receive = async (address: URL) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await fetch(address, { headers: browser, redirect: "manual", signal });
    return { answer, content: Buffer.from(await answer.arrayBuffer()) };
  };
  const assets = makeAssets();
  const { answer, content } = await receive(url);
  const { status, headers } = answer;
  const page = { url, status, headers, body: content.toString("utf8") };
  const { files, ...checked } = checkPage(page, expected, assets);
  const faults = [...checked.faults];
  const folder = new URL(url.pathname.endsWith("/") ? ".." : ".", url);
  for (const name of files) {
    const file = await receive(new URL(name, folder));
    faults.push(...[findFileFault(name, file.content, assets) ?? []].flat());
  }
  return { files, faults: faults.slice(0, faultsMax) };
}
