/** The documentation site for tests: built and served by what `npm start` runs. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { buildDocsSite } from "@tollgate/docs-site/build";
import { endOfFile } from "../end-of-file.ts";
import { startProcess } from "../gateway-process.ts";
import { cleanEnvironment } from "../programs.ts";

export type DocsSite = Awaited<ReturnType<typeof startDocsSite>>;

export async function startDocsSite() {
  const beganAt = Date.now();
  const command = ["tools/run.mjs", "gateway/cli/gw.ts", "start"];
  const { baseUrl, demo } = await startProcess(endOfFile, { command });
  const readMarkdown = async (page: string): Promise<string> => {
    const answer = await fetch(`${baseUrl}/docs/${page}.md`);
    assert.equal(answer.status, 200, page);
    return answer.text();
  };
  const readSetup = async (): Promise<string> => {
    const [, setup = ""] =
      /^```sh setup\n(.*?)^```/ms.exec(await readMarkdown("quick-start")) ?? [];
    assert.match(setup, /CONTROL_KEY=[0-9A-F-]{36}/);
    return setup;
  };
  let all: Promise<ReadonlyMap<string, string>> | undefined;
  return {
    baseUrl,
    demo,
    readMarkdown,
    elapsedSeconds: () => (Date.now() - beganAt) / 1000,

    /**
     * Runs what a newcomer pastes: the variables of the quick start, and a page's first command.
     */
    async pasteFirst(page: string): Promise<string> {
      const [, first = ""] = /^```sh\n(.*?)^```/ms.exec(await readMarkdown(page)) ?? [];
      const script = `${await readSetup()}\n${first}`;
      const env = cleanEnvironment();
      return (await promisify(execFile)("bash", ["-c", script], { env })).stdout;
    },

    /** Reads the variables of the quick start. */
    async readVariables(): Promise<Readonly<Record<string, string>>> {
      const lines = (await readSetup()).matchAll(/^export (\w+)=(.*)$/gm);
      return Object.fromEntries([...lines].map(([, name, value]) => [name, value]));
    },

    /** Reads all pages that can be reached from the first one, by their addresses. */
    readAll(): Promise<ReadonlyMap<string, string>> {
      all ??= readFrom(baseUrl);
      return all;
    },
  };
}

async function readFrom(baseUrl: string): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  const wanted = ["/docs/"];
  for (const path of wanted) {
    const answer = await fetch(baseUrl + path);
    assert.equal(answer.status, 200, path);
    const html = await answer.text();
    pages.set(path, html);
    for (const [target = ""] of linksOf(html)) {
      const isPage = /^\/docs\/[^.]*$/.test(target) && !wanted.includes(target);
      if (isPage) wanted.push(target);
    }
  }
  return pages;
}

/** Builds the site for a gateway that `npm start` has not started. */
export async function buildSite(): Promise<void> {
  await buildDocsSite();
}

/** Returns the address and the heading of every link. */
export function linksOf(html: string): readonly (readonly string[])[] {
  const links = [...html.matchAll(/<a\b[^>]* href="([^"]*)"/g)].map(([, href = ""]) => href);
  return links.map((href) => href.split("#"));
}
