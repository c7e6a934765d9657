/**
 * `gw page watch` checks that browsers receive the payment page exactly as the gateway sends it. It
 * needs no installation, because a timer runs it on another machine than the gateway's.
 */
import { option, word } from "../administration/field.ts";
import { Report } from "../administration/session.ts";
import { makeAssets } from "../pages/payment/assets.ts";
import { checkPage, type Expected, findFileFault } from "../pages/payment/page-watch.ts";
import { Problem } from "../values/problem.ts";
import { causeOf, isHttpAddress } from "./demonstration-merchant.ts";
import { ownCommand } from "./machine-command.ts";
import { exitCodes } from "./terminal.ts";

export const pageCommands = [
  ownCommand({
    name: "page watch",
    does: [
      "compare a payment page, as browsers receive it, with the gateway's inventory; " +
        "exit code 1 if it differs",
    ],
    fields: {
      url: word("url", "url", ["its address"]),
      embedOrigins: option("text", "origins", [
        "sites that may embed the page, as the endpoint names them, by commas",
      ]),
      walletMethods: option("text", "urls", [
        "payment method identifiers of the wallets that the page may offer, by commas",
      ]),
      otherHeaders: option("text", "names", ["headers that your proxy adds, by commas"]),
    },
    async run({ url: address, ...options }) {
      const url = isHttpAddress(address) ? URL.parse(address) : null;
      if (url === null)
        return new Problem("Give the address of a payment page or of a payment link.");
      const found = await watchPage(url, {
        embedOrigins: splitList(options.embedOrigins),
        walletMethods: splitList(options.walletMethods),
        otherHeaders: splitList(options.otherHeaders?.toLowerCase()),
      }).catch((error) => new Problem(`The page cannot be read: ${causeOf(error)}.`));
      if (found instanceof Problem) return found;
      const { faults, files } = found;
      // The path grants access to the payment, so only the URL's origin is printed.
      const page = url.origin;
      if (faults.length > 0) process.exitCode = exitCodes.findings;
      const shown = { page, files: files.join(", "), faults: 0 };
      return new Report({ page, files, faults }, faults.length > 0 ? faults.join("\n") : shown);
    },
  }),
];

function splitList(text = ""): readonly string[] {
  return text.split(",").flatMap((each) => each.trim() || []);
}

const timeoutMs = 15_000;
const faultsMax = 20;

/** The headers of a browser, because an attacker may show a manipulated page to browsers only. */
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
