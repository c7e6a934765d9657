/**
 * Builds the documentation site into `docs-site/dist` if a document or a file of this folder has
 * changed: every document as a page and as Markdown, the index of the search, `llms.txt` and the
 * OpenAPI document. The gateway serves the folder at `/docs/`.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { buildWhenStale, compressFiles } from "../tools/build-when-stale.ts";
import {
  addressOf,
  markdownAddressOf,
  readSources,
  type Source,
  sections,
  targetOf,
} from "./pages.ts";

const root = import.meta.dirname;

/** Files that are joined into one file each, in this order. */
const styles = ["base.css", "header.css", "frame.css", "text.css", "code.css", "print.css"];
const scripts = ["site.js", "calculator.js", "explorer.js"];

/** Returns a sentence about a new build, or undefined if the last build is up to date. */
export function buildDocsSite(): Promise<string | undefined> {
  return buildWhenStale({
    name: "Documentation",
    root,
    sources: [
      "*.{ts,json}",
      "browser/*",
      "../docs/*.{md,json}",
      "../docs/merchant-api/*.md",
      "../CHANGELOG.md",
      "../examples/shop/README.md",
    ],
    build: writeSite,
    describe: (folder) => `${fs.globSync("**/*.html", { cwd: folder }).length} pages`,
  });
}

async function writeSite(folder: string): Promise<void> {
  // These modules are loaded only for a build, because most starts find the site built.
  const { renderMarkdown } = await import("./markdown.ts");
  const { renderPage } = await import("./layout.ts");
  const put = (name: string, content: string | Uint8Array) => {
    const file = join(folder, name);
    fs.mkdirSync(dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
  };
  /** Writes a file under a name with the hash of its content. */
  const putAsset = (name: string, content: string): string => {
    const [stem, ending] = name.split(".");
    const hash = createHash("sha256").update(content).digest("hex").slice(0, 16);
    put(`assets/${stem}.${hash}.${ending}`, content);
    return `${stem}.${hash}.${ending}`;
  };
  const read = (name: string) => fs.readFileSync(join(root, "browser", name), "utf8");
  const sources = new Map(readSources().map((source) => [source.path, source]));
  const rendered = [...sources.values()].map((source) => ({
    source,
    ...renderMarkdown(source.text, (href) => resolveLink(source, href, sources, addressOf)),
  }));
  const passages = rendered.flatMap(({ source, passages: found }) =>
    found.map(({ id, heading, text }) => ({
      address: `${addressOf(source)}#${id}`,
      page: source.name,
      heading,
      text,
    })),
  );
  const assets = {
    style: putAsset("site.css", styles.map(read).join("\n")),
    script: putAsset("site.js", scripts.map(read).join("\n")),
    index: putAsset("index.json", JSON.stringify(passages)),
  };
  for (const { source, html, headings } of rendered) {
    put(`${fileOf(source)}.html`, renderPage({ source, sources, html, headings, assets }));
    put(`${fileOf(source)}.md`, withAddresses(source, sources));
  }
  put("llms.txt", renderList(sources));
  put("openapi.json", fs.readFileSync(join(root, "../docs/openapi.json")));
  compressFiles(folder, "**/*.{html,md,txt,json,js,css}", 6);
}

function fileOf({ place }: Source): string {
  return place === "" ? "index" : place;
}

/** Returns the address of another document, or the address itself if it is outside of the site. */
function resolveLink(
  from: Source,
  href: string,
  sources: ReadonlyMap<string, Source>,
  printAddress: (page: Source) => string,
): string | undefined {
  const target = targetOf(from.path, href);
  if (target === undefined) return href;
  // A link to the repository's README leads to the quick start, because the README is for readers
  // of the repository.
  const known = target.path === "README.md" ? "docs/quick-start.md" : target.path;
  const page = sources.get(known);
  if (page === undefined) return undefined;
  return printAddress(page) + (known === target.path ? target.rest : "");
}

/** Returns a document for programs, whose links lead to the Markdown of this site. */
function withAddresses(source: Source, sources: ReadonlyMap<string, Source>): string {
  return source.text.replaceAll(/\[([^\]]*)\]\(([^)\s]+)\)/g, (_, words, href) => {
    const address = resolveLink(source, href, sources, markdownAddressOf);
    return address === undefined ? words : `[${words}](${address})`;
  });
}

/** Renders the list of documents in the format of llmstxt.org. */
function renderList(sources: ReadonlyMap<string, Source>): string {
  const parts = sections.map(({ title, pages }) => {
    const lines = pages.flatMap((path) => {
      const page = sources.get(path);
      if (page === undefined) return [];
      const [, sentence = ""] = /^# .+\n+(?![#|<`-])(.+?[.:])(?:\s|$)/m.exec(page.text) ?? [];
      const about = sentence.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/:$/, ".");
      return [`- [${page.title}](${markdownAddressOf(page)})${about && `: ${about}`}`];
    });
    return `## ${title}\n\n${lines.join("\n")}\n`;
  });
  const intro =
    "# Tollgate\n\n> A card payment gateway: merchants send payments over HTTP as signed forms. " +
    "Every page of this documentation is Markdown at the addresses below; /docs/openapi.json " +
    "describes every operation.\n";
  return [intro, ...parts].join("\n");
}

if (import.meta.main) {
  const done = await buildDocsSite();
  if (done !== undefined) process.stderr.write(`${done}\n`);
}
