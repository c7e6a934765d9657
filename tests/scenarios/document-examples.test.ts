/**
 * Every example of the documents is run as its page shows it, in its own language, against a
 * gateway. Languages that the machine does not have are skipped. And the OpenAPI document is good
 * enough for a public generator of clients.
 */
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { globSync } from "node:fs";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { generateSource } from "oazapfts";
import { answerPareq, passChallenge } from "../support/cardholder.ts";
import { atEnd, endOfFile } from "../support/clean-up.ts";
import { type Fence, readFences, repository } from "../support/document.ts";
import { cleanEnvironment, startShell } from "../support/programs.ts";
import { beginChallenge, beginPares } from "../support/threeds.ts";
import { until } from "../support/until.ts";
import { startWalletWorld } from "../support/wallets.ts";

// biome-ignore format: a table
const programs = {
  sh:     "bash",
  ts:     process.execPath,
  php:    "php",
  python: "python3",
} as const;
type Language = keyof typeof programs;

/** What a program prints, by the page of its example; otherwise it ends with an approval. */
// biome-ignore format: a table
const printed: Readonly<Record<string, RegExp>> = {
  "3d-secure":                 /sale_3d_validating[\s\S]*redirect-to/,
  "capture":                   /capture_approved/,
  "create-card-ref":           /create-card-ref-response/,
  "get-card-info":             /get-card-info-response/,
  "make-rebill-preauth":       /sale_approved[\s\S]*auth_approved/,
  "preauth":                   /auth_approved/,
  "quick-start":               /sale_approved|reversal_approved/,
  "remove-card-ref":           /remove-card-ref-response/,
  "recurrent":                 /sale_approved[\s\S]*sale_approved[\s\S]*remove-card-ref-response/,
  "return":                    /reversal_approved/,
  "sale":                      /async-response[\s\S]*(sale_approved|sale_processing)/,
  "sale-form":                 /async-form-response[\s\S]*redirect-url/,
  "preauth-form":              /async-form-response[\s\S]*redirect-url/,
  "account-verification":      /av_approved/,
  "account-verification-form": /async-form-response[\s\S]*redirect-url/,
  "upload-method-url-result":  /MethodUrlFrame[\s\S]*async-response/,
  "upload-cres-result":        /async-response/,
  "upload-pares-result":       /async-response/,
};

const world = await startWalletWorld(endOfFile);
const folder = await mkdtemp(join(tmpdir(), "tollgate-examples-"));
atEnd(endOfFile, () => rm(folder, { recursive: true, force: true }));
// There Node finds the client.
await symlink(join(repository, "node_modules"), join(folder, "node_modules"));

const examples = await findExamples();

test("every operation that is signed by a checksum has an example, and so have the guides", () => {
  const pages = new Set(examples.map(({ page }) => page));

  const missing = Object.keys(printed).filter((page) => !pages.has(page));
  assert.deepEqual(missing, []);
  assert.ok(examples.length >= 24, `${examples.length} examples`);
  for (const { fences, page } of examples) assert.equal(fences.length, 4, page);
});

for (const language of Object.keys(programs) as Language[]) {
  const program = programs[language];
  describe(`examples in ${language}`, { skip: isMissing(language) }, () => {
    for (const [at, { page, fences }] of examples.entries()) {
      test(`${page}: example ${at + 1}`, async () => {
        const text = fences.find((fence) => fence.language === language)?.text ?? "";
        const file = join(folder, `example-${at}.${language}`);
        await writeFile(file, text);
        const env = { ...environment(), ...(await prepare(page)) };

        const { stdout, stderr } = await promisify(execFile)(program, [file], { env });

        assert.match(stdout, printed[page] ?? /sale_approved/, stdout + stderr);
        assert.doesNotMatch(stdout, /error-message/);
        assert.equal(stderr, "");
        await world.settle();
      });
    }
  });
}

describe("receivers of callbacks", () => {
  // biome-ignore format: a table
  const commands = {
    ts:     `exec ${process.execPath} receiver.ts`,
    php:    "exec php -S localhost:$PORT receiver.php",
    python: "exec python3 receiver.python",
  } as const;
  for (const language of ["ts", "php", "python"] as const) {
    test(`in ${language}`, { skip: isMissing(language) }, async (t) => {
      const fences = await readFences("docs/callbacks.md");
      const text = fences.find((fence) => fence.language === language)?.text ?? "";
      await writeFile(join(folder, `receiver.${language}`), text);
      await writeFile(join(folder, `receive-${language}.sh`), commands[language]);
      const port = String(await findFreePort());
      const settings = { ...environment(), PORT: port } as Record<string, string>;
      const receiver = startShell(`receive-${language}.sh`, folder, settings);
      atEnd(t, () => receiver.kill());
      const address = `http://localhost:${port}/`;
      const forged = `${address}?status=approved&orderid=1&client_orderid=2&control=a`;
      const refused = await until("the receiver answers", async () => {
        assert.ok(receiver.isRunning, receiver.output);
        return fetch(forged).catch(() => undefined);
      });

      const order = await world.merchant().sale({ server_callback_url: address });
      await world.settle();

      const told = `${order["merchant-order-id"]} approved`;
      await until("the result is printed", () => receiver.output.includes(told) || undefined);
      assert.equal(refused.status, 400);
    });
  }
});

test("a client that is generated from the OpenAPI document makes a sale", async () => {
  const source = await generateSource(join(repository, "docs/openapi.json"));
  await writeFile(join(folder, "generated-client.ts"), source);
  const { syncSale, defaults } = await import(join(folder, "generated-client.ts"));
  const { ENDPOINT = "", GATEWAY, CONTROL_KEY } = environment();
  const document = JSON.parse(await readFile(join(repository, "docs/openapi.json"), "utf8"));
  const { requestBody } = document.paths["/gw/api/v2/sync/sale/{endpoint_id}"].post;
  const { example } = requestBody.content["application/x-www-form-urlencoded"];
  const { client_orderid, email } = example;
  const control = hash("sha1", `${ENDPOINT}${client_orderid}1042${email}${CONTROL_KEY}`);

  defaults.baseUrl = GATEWAY;
  const { status, data } = await syncSale(ENDPOINT, { ...example, control });

  assert.deepEqual([status, data["order-stage"]], [200, "sale_approved"]);
});

/** Why a language is skipped. */
function isMissing(language: Language): string | false {
  const program = programs[language];
  const { error } = spawnSync(program, ["--version"]);
  return error === undefined ? false : `${program} is not installed`;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "localhost");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** The variables of the quick start. */
function environment(): NodeJS.ProcessEnv {
  const { set, gateway, bank } = world;
  const { plain: ENDPOINT, secure: SECURE_ENDPOINT } = set.endpoints;
  return {
    ...{ ...cleanEnvironment(), GATEWAY: gateway.url, BANK: bank.url, ENDPOINT, SECURE_ENDPOINT },
    ...{ LOGIN: set.login, CONTROL_KEY: set.controlKey },
  };
}

/** The examples of the last step of 3-D Secure begin where the cardholder has returned. */
async function prepare(page: string): Promise<NodeJS.ProcessEnv> {
  if (page === "upload-cres-result") {
    const { order, status } = await beginChallenge(world);
    return { ...idsOf(order), CRES: (await passChallenge(status)).cres };
  }
  if (page === "upload-pares-result") {
    const { order, status } = await beginPares(world);
    const { paRes, md } = await answerPareq(status, "https://shop.example/term");
    return { ...idsOf(order), PARES: paRes, MD: md };
  }
  return {};
}

function idsOf(order: { "merchant-order-id": string; "gw-order-id": string }) {
  return { CLIENT_ORDERID: order["merchant-order-id"], ORDERID: order["gw-order-id"] };
}

type DocumentExample = { readonly page: string; readonly fences: readonly Fence[] };

/** Fences of the four languages, one after the other. */
async function findExamples(): Promise<readonly DocumentExample[]> {
  const found: DocumentExample[] = [];
  for (const path of globSync("docs/{,merchant-api/}*.md", { cwd: repository }).sort()) {
    const fences = await readFences(path);
    for (const [at, { language }] of fences.entries()) {
      const next = fences[at + 1]?.language;
      if (language !== "sh" || next !== "ts") continue;
      found.push({ page: basename(path, ".md"), fences: fences.slice(at, at + 4) });
    }
  }
  return found;
}
