/**
 * Every example of the documents is run as its page shows it, in its own language, against a
 * gateway. Languages that the machine does not have are skipped. And the OpenAPI document is good
 * enough for a public generator of clients.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { globSync } from "node:fs";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { generateSource } from "oazapfts";
import { answerPareq, passChallenge } from "../../support/cardholder.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { type Fence, readFences, repository } from "../../support/operator/document.ts";
import {
  interpreters,
  isMissing,
  keepUpWithTime,
  type Language,
  makeExampleFolder,
  variablesOf,
  writeKey,
} from "../../support/operator/examples.ts";
import { isLongRun } from "../../support/series.ts";
import { beginChallenge, beginPares } from "../../support/threeds.ts";
import { startWalletWorld } from "../../support/wallets.ts";

/** The output of a program, by the page of its example. Other programs print an approval. */
// biome-ignore format: a table
const printed: Readonly<Record<string, RegExp>> = {
  "3d-secure":                 /sale_3d_validating[\s\S]*redirect-to/,
  "capture":                   /capture_approved/,
  "create-card-ref":           /create-card-ref-response/,
  "create-card-ref-v4":        /create-card-ref-response/,
  "get-card-info":             /get-card-info-response/,
  "make-rebill-preauth":       /sale_approved[\s\S]*auth_approved/,
  "payout":                    /payout_approved/,
  "payout-by-ref":             /create-card-ref-response[\s\S]*async-response/,
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
  "create-recurring-payment":  /create-recurring-payment-response[\s\S]*approved/,
  "process-recurring-payment": /process-recurring-payment-response[\s\S]*processing/,
  "void":                      /void_approved/,
  "update-recurring-payment":  /update-recurring-payment-response/,
  "create-recurring-payments": /create-recurring-payments-response/,
  "process-recurring-payments": /process-recurring-payments-response[\s\S]*accepted\W+1\b/,
  "create-ephemeral-ticket":    /create-ephemeral-ticket-response[\s\S]*ephemeralTicket\W+1001\./,
  "update-recurring-payments":  /update-recurring-payments-response[\s\S]*accepted\W+1\b/,
};

const world = await startWalletWorld(endOfFile);
const folder = await makeExampleFolder();

const pages = globSync("docs/{,merchant-api/}*.md", { cwd: repository }).sort();
const KEY_FILE = await writeKey(world, folder);
const examples = await findExamples();

/** Other code in these languages, by its page: where it runs, or why it does not. */
// biome-ignore format: a table
const others: Readonly<Record<string, readonly [count: number, where: string]>> = {
  "3d-secure":   [3, "document-programs.long.test.ts: shops"],
  "README":      [2, "below: a checksum and a signature"],
  "acquirers":   [1, "not run: rows for an acquirer whose specification the reader has"],
  "backup":      [1, "not run: pgBackRest of the reader's own"],
  "callbacks":   [7, "document-programs.long.test.ts: receivers, and what they have heard"],
  "hosted-fields": [3, "not run: a page and a server of the reader's own; shop.long.test.ts buys so"],
  "keys":        [2, "operating-document.long.test.ts: a new key-encryption key"],
  "quick-start": [1, "the variables of every example"],
  "transaction-report": [2, "below: today's report; daily-report.test.ts: a receiver"],
};

/**
 * Whether the code is an operator's commands with names for the reader to replace.
 * document-commands.test.ts checks them.
 */
function isCommands({ text }: Fence): boolean {
  const lines = text.replaceAll("\\\n", "").split("\n");
  return lines.every((line) => /^((gw|npm) |#|$)/.test(line));
}

test("every operation and every guide has an example", () => {
  const pages = new Set(examples.map(({ page }) => page));

  const missing = Object.keys(printed).filter((page) => !pages.has(page));
  assert.deepEqual(missing, []);
  assert.ok(examples.length >= 26, `${examples.length} examples`);
  for (const { fences, page } of examples) assert.equal(fences.length, 4, page);
});

test("other code in the documents is listed, with where it runs or why it does not", async () => {
  const found: Record<string, number> = {};
  // Tests of their own run the operator's guides as a whole: operating-document.long.test.ts and
  // rehearsal-document.long.test.ts.
  for (const path of pages.filter((each) => !/^docs\/(operating|rehearsal)\.md$/.test(each))) {
    const all = await readFences(path);
    const fences = all.filter((each) => each.language in interpreters && !isCommands(each));
    const page = basename(path, ".md");
    const shown = 4 * examples.filter((example) => example.page === page).length;
    if (fences.length > shown) found[page] = fences.length - shown;
  }

  const known = Object.entries(others).map(([page, [count]]) => [page, count]);
  assert.deepEqual(found, Object.fromEntries(known));
});

test("the checksum and the signature in a shell are those that the page shows", async () => {
  const fences = await readFences("docs/merchant-api/README.md");
  const [checksum, signature] = fences.filter(
    ({ language, text }) => language === "sh" && text.startsWith("printf"),
  );
  const [parameters, text, signed, key] = fences.filter(({ language }) => language === "text");
  assert.ok(parameters && text && signed && key && checksum && signature);
  const place = await mkdtemp(join(folder, "signature-"));
  await writeFile(join(place, "key.pem"), key.text);
  const run = async (command: string) => {
    const env = { ...process.env, text: text.text.trimEnd() };
    return (await promisify(execFile)("bash", ["-c", command], { cwd: place, env })).stdout;
  };

  const document = await readFile(join(repository, "docs/merchant-api/README.md"), "utf8");
  assert.ok(document.includes(`\`${(await run(checksum.text)).slice(0, 40)}\``));
  assert.equal(await run(signature.text), signed.text.trimEnd());
});

test("the report in a shell has the transactions of the day", async () => {
  const fences = await readFences("docs/merchant-api/transaction-report.md");
  const { text = "" } = fences.find(({ language }) => language === "sh") ?? {};
  await world.merchant().sale();
  await keepUpWithTime(world);

  const env = { ...process.env, ...variablesOf(world) };
  const { stdout } = await promisify(execFile)("bash", ["-c", text], { env });

  assert.match(stdout, /^gw-order-id,.*\r\n[\s\S]*,sale,/);
});

const languages = Object.keys(interpreters) as Language[];
for (const [turn, language] of languages.entries()) {
  const program = interpreters[language];
  describe(`examples in ${language}`, { skip: isMissing(language) }, () => {
    for (const [at, { page, fences }] of examples.entries()) {
      // Each in one language, in turn: the examples of a page are made from the same table.
      if (!isLongRun && at % languages.length !== turn) continue;
      test(`${page}: example ${at + 1}`, async () => {
        const text = fences.find((fence) => fence.language === language)?.text ?? "";
        const file = join(folder, `example-${at}.${language}`);
        await writeFile(file, text);
        const env = { ...variablesOf(world), KEY_FILE, ...(await prepare(page)) };
        await keepUpWithTime(world);

        const { stdout, stderr } = await promisify(execFile)(program, [file], { env });

        assert.match(stdout, printed[page] ?? /sale_approved/, stdout + stderr);
        // The column of a payload has the same name.
        assert.doesNotMatch(stdout, /error-message['"]?\]?\s*[:=]/);
        assert.equal(stderr, "");
        await world.settle();
      });
    }
  });
}

test("a client that is generated from the OpenAPI document makes a sale", async () => {
  const source = await generateSource(join(repository, "docs/openapi.json"));
  await writeFile(join(folder, "generated-client.ts"), source);
  const { syncSale, defaults } = await import(join(folder, "generated-client.ts"));
  const { ENDPOINT = "", GATEWAY, CONTROL_KEY } = variablesOf(world);
  const document = JSON.parse(await readFile(join(repository, "docs/openapi.json"), "utf8"));
  const { requestBody } = document.paths["/gw/api/v2/sync/sale/{endpoint_id}"].post;
  const { example } = requestBody.content["application/x-www-form-urlencoded"];
  const { client_orderid, email } = example;
  const control = hash("sha1", `${ENDPOINT}${client_orderid}1042${email}${CONTROL_KEY}`);

  defaults.baseUrl = GATEWAY;
  const { status, data } = await syncSale(ENDPOINT, { ...example, control });

  assert.deepEqual([status, data["order-stage"]], [200, "sale_approved"]);
});

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
  for (const path of pages) {
    const fences = await readFences(path);
    for (const [at, { language }] of fences.entries()) {
      const next = fences[at + 1]?.language;
      if (language !== "sh" || next !== "ts") continue;
      found.push({ page: basename(path, ".md"), fences: fences.slice(at, at + 4) });
    }
  }
  return found;
}
