/**
 * Lists the documents that are pages of the site, in their order. A document in no section is still
 * a page, found by links and by the search. Decisions are for people who change the gateway, and
 * are not pages.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";

/** The folder of the repository. */
const root = join(import.meta.dirname, "..");

type Section = { readonly title: string; readonly pages: readonly string[] };

// biome-ignore format: a table
export const sections: readonly Section[] = [
  { title: "Get started", pages: ["docs/README.md", "docs/quick-start.md", "docs/concepts.md", "docs/test-cards.md", "docs/explorer.md", "docs/certify.md", "docs/going-live.md"] },
  { title: "Guides", pages: ["docs/3d-secure.md", "docs/wallets.md", "docs/recurrent.md", "docs/payouts.md", "docs/balance.md", "docs/callbacks.md", "docs/receive-callbacks.md", "docs/payment-page.md", "docs/hosted-fields.md", "docs/refused-requests.md", "docs/moving-a-shop.md", "examples/shop/README.md"] },
  { title: "Operations", pages: ["docs/merchant-api/README.md", ...inFolder("docs/merchant-api", ["README", "errors", "status-response"])] },
  { title: "Reference", pages: ["docs/merchant-api/status-response.md", "docs/merchant-api/errors.md", "docs/orders.md", "docs/glossary.md", "docs/roadmap.md", "CHANGELOG.md"] },
  { title: "For operators", pages: ["docs/operating.md", "docs/rehearsal.md", "docs/portal.md", "docs/deployment.md", "docs/settings.md", "docs/command-line.md", "docs/gates.md", "docs/routing.md", "docs/acquirers.md", "docs/monitoring.md", "docs/doubt.md", "docs/callback-delivery.md", "docs/screening.md", "docs/reconciliation.md", "docs/keys.md", "docs/pci.md", "docs/card-data.md", "docs/wallet-keys.md", "docs/directory-servers.md", "docs/pages.md", "docs/network.md", "docs/database.md", "docs/schema.md", "docs/scaling.md", "docs/performance.md", "docs/backup.md", "docs/reliability.md"] },
];

/** Names in the navigation that are shorter than the titles of the documents. */
const shortTitles: Readonly<Record<string, string>> = {
  "docs/README.md": "Welcome",
  "docs/merchant-api/README.md": "Overview and signing",
  "docs/orders.md": "States of an order",
  "docs/merchant-api/errors.md": "Error codes",
  "CHANGELOG.md": "Changes",
};

export type Source = {
  /** The document's path in the repository. */
  readonly path: string;
  /** The address after `/docs/`; empty for the first page. */
  readonly place: string;
  readonly title: string;
  /** The title in the navigation. */
  readonly name: string;
  readonly text: string;
};

export function readSources(): readonly Source[] {
  const shown = sections.flatMap(({ pages }) => pages);
  const others = globSync("docs/{,merchant-api/}*.md", { cwd: root }).sort();
  return [...new Set([...shown, ...others])].map((path) => {
    const text = readFileSync(join(root, path), "utf8").replace(/^<!--.*-->\n+/, "");
    const title = /^# (.+)$/m.exec(text)?.[1] ?? path;
    return { path, place: placeOf(path), title, name: shortTitles[path] ?? title, text };
  });
}

export function addressOf({ place }: Pick<Source, "place">): string {
  return `/docs/${place}`;
}

/** Returns the address of the page as Markdown, for programs. */
export function markdownAddressOf({ place }: Pick<Source, "place">): string {
  return `/docs/${place === "" ? "index" : place}.md`;
}

/** Returns the target of a document's link: a path in the repository, and the rest of the link. */
export function targetOf(from: string, href: string): { path: string; rest: string } | undefined {
  if (/^[a-z]+:/i.test(href)) return undefined;
  const at = href.indexOf("#");
  const [file, rest] = at < 0 ? [href, ""] : [href.slice(0, at), href.slice(at)];
  return { path: file === "" ? from : normalize(join(dirname(from), file)), rest };
}

function placeOf(path: string): string {
  if (path === "CHANGELOG.md") return "changes";
  return path.replace(/^docs\//, "").replace(/\/?(README)?\.md$/, "");
}

function inFolder(folder: string, without: readonly string[]): readonly string[] {
  const order = [
    "sale",
    "preauth",
    "capture",
    "return",
    "void",
    "payout",
    "status",
    "account-verification",
  ];
  const names = globSync(`${folder}/*.md`, { cwd: root }).map((path) =>
    path.slice(folder.length + 1, -3),
  );
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return names
    .filter((name) => !without.includes(name))
    .sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1))
    .map((name) => `${folder}/${name}.md`);
}
