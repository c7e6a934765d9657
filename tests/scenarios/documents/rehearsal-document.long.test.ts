/**
 * An operator follows `docs/rehearsal.md` together with `docs/operating.md`, in the order that it
 * tells: own certificates, the sandbox bank as a program in place of the acquirer, the rest of the
 * guide with its backup and restore, callbacks to a shop of the own network, a payment on
 * the payment page, and the end of the rehearsal.
 */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { findFreePort } from "../../support/bank/results-balancer.ts";
import { atEnd } from "../../support/clean-up.ts";
import { startExternalServer } from "../../support/databases/database-pair.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { makeFolder } from "../../support/folder.ts";
import {
  type Fence,
  type Places,
  readFences,
  toScript,
  writeSqlRunner,
} from "../../support/operator/document.ts";
import { makeInstallation } from "../../support/operator/program-copy.ts";
import { startShell } from "../../support/programs.ts";
import { until } from "../../support/until.ts";

test("the guide is rehearsed with the sandbox bank, every page says so, and it is retired", async () => {
  const folder = await makeFolder(endOfFile, "rehearsal");
  const installation = await makeInstallation(folder);
  const { places, ports } = await choosePlaces(folder, installation);
  const { certificates, bank, shop, later } = await readRehearsal();
  const guide = await readFences("docs/operating.md");
  const acquirer = guide.findIndex(({ text }) => text.startsWith("gw gate create"));
  const sale = guide.findIndex(({ text }) => text.includes("/sync/sale/"));
  const names = { "DNS:db.example": "DNS:localhost", "DNS:shop.example": "DNS:localhost" };
  await run(folder, toScript(certificates, { ...places, ...names }));
  const read = (name: string) => readFile(join(folder, "rehearsal", name), "utf8");
  const identity = { cert: await read("db.pem"), key: await read("db.key") };
  const server = await startExternalServer(endOfFile, ports.database, identity);
  await writeSqlRunner(folder, server.url);

  const fences = [
    ...guide.slice(0, acquirer),
    ...[
      ...bank,
      ...guide.slice(acquirer + 1, sale),
      ...shop,
      ...guide.slice(sale),
      ...later,
    ].flatMap(completeFence),
  ];
  const output = await run(folder, toScript(fences, places), {
    CURL_CA_BUNDLE: "tls/rehearsal-ca.pem",
    CURL_HOME: folder,
    ...ports.bank,
  });

  assert.match(output, /^This is a rehearsal with a sandbox bank/m);
  assert.match(output, /^warning environment: rehearsal\n +This is a rehearsal/m);
  assert.match(output, /^GET, right control of acme, answer 200$/m);
  assert.match(output, /^type +sale$/m);
  assert.match(output, /^type +reversal$/m);
  const warned = output.match(/^(?:trouble|warning) .*(?:\n {8}.*)*/gm) ?? [];
  assert.deepEqual(
    warned.filter((each) => !announced.test(each)),
    [],
  );
  assert.match(output, /^rehearsal +all +\S+ +none +[1-9]\d* .*good$/m);
  assert.match(output, /^== page\n<p class="warning" role="note">Rehearsal: no money moves/m);
  assert.match(output, /^== result\n<p class="warning" role="note">Rehearsal: no money moves/m);
  assert.match(output, /^== portal\n.*"environment":"rehearsal"/m);
  assert.match(output, /^== without the setting\nThis database was used for a rehearsal/m);
  const [, retired = ""] = output.split("== retired\n");
  assert.match(retired, /^kind +iso87_binary$/m);
  assert.match(retired, /^host +bank\.example:8583$/m);
  assert.doesNotMatch(retired, /^sandbox/m);
  assert.match(output, /^== done/m);
});

/** Warnings about the machine and the rehearsal that the guide announces. */
const announced = /^warning (?:memory|time synchronisation|free disk space|environment: rehearsal)/;

async function choosePlaces(folder: string, installation: string) {
  const ports = await Promise.all(Array.from({ length: 10 }, findFreePort));
  const [database, own, admin, results, control, ascii, binary, iso93, directory, shop] = ports;
  // The gateway's address is that of the guide, because URLs and certificates contain it.
  await writeFile(join(folder, ".curlrc"), `connect-to = "pay.example:443:127.0.0.1:${own}"\n`);
  const places: Places = {
    "/opt/tollgate": installation,
    "/etc/tollgate": folder,
    "/var/lib/tollgate-bank": join(folder, "bank"),
    "/var/lib/tollgate": join(folder, "state"),
    "/var/log/tollgate": join(folder, "log"),
    "db.example:5432": `localhost:${database}`,
    "GW_PORT=443": `GW_PORT=${own}`,
    "GW_ADMIN_PORT=9090": `GW_ADMIN_PORT=${admin}`,
    "127.0.0.1:9090": `127.0.0.1:${admin}`,
    "GW_RESULTS_PORT=8081": `GW_RESULTS_PORT=${results}`,
    "127.0.0.1:8081": `127.0.0.1:${results}`,
    "127.0.0.1:8090": `127.0.0.1:${control}`,
    "127.0.0.1:8584": `127.0.0.1:${binary}`,
    "127\\.0\\.0\\.1:8584": `127.0.0.1:${binary}`,
    "GW_CALLBACK_ALLOWED_NAMES=shop.example": "GW_CALLBACK_ALLOWED_NAMES=localhost",
    "GW_CALLBACK_PORTS=8443": `GW_CALLBACK_PORTS=${shop}`,
    "--port 8443": `--port ${shop}`,
    "https://shop.example/callback": `https://localhost:${shop}/callback`,
    "127.0.0.1:8091": `127.0.0.1:${directory}`,
  };
  const bank = {
    GW_BANK_PORT: String(control),
    GW_BANK_HOST_PORT: String(ascii),
    GW_BANK_BINARY_HOST_PORT: String(binary),
    GW_BANK_ISO93_HOST_PORT: String(iso93),
    GW_BANK_DIRECTORY_PORT: String(directory),
  };
  return { places, ports: { database: database ?? 0, bank } };
}

/** Reads the parts of the document: before, within and after the guide. */
async function readRehearsal() {
  const fences = await readFences("docs/rehearsal.md");
  const start = fences.findIndex(({ mark }) => mark === "background");
  const end = fences.findIndex(({ text }) => text.startsWith("gw gate create")) + 1;
  const certificates = fences.slice(0, start).filter(({ text }) => text.includes("openssl"));
  const isShop = ({ text }: Fence) => text.startsWith("gw callback listen");
  const shop = fences.filter(isShop);
  const later = fences.slice(end).filter((each) => !isShop(each));
  return { certificates, bank: fences.slice(start, end), shop, later };
}

/** Adds the steps of a person in a browser, of a service manager, and those in the text. */
function completeFence(fence: Fence): readonly Fence[] {
  const also = (text: string): Fence => ({ language: "sh", mark: "", text });
  if (fence.text.includes("\nNODE_EXTRA_CA_CERTS=")) return [fence, also(openShop)];
  if (fence.text.includes("gw endpoint create")) return [fence, also(openEndpoint)];
  if (fence.text.includes("gw link create")) return [fence, also(payOnPage)];
  if (fence.text.startsWith("systemctl disable")) return [also(stopAll)];
  if (fence.text.startsWith("gw key make")) return [also("echo '== retired'\n"), fence];
  return [fence];
}

const payOnPage = `
page=$(curl -fsS -c cookies $link)
printf '== page\\n%s\\n' "$(grep -o '<p class="warning.*' <<< "$page")"
shown=$(sed -n 's/.*name="link-page" value="\\([^"]*\\)".*/\\1/p' <<< "$page")
curl -fsS -L -b cookies -c cookies -H "sec-fetch-site: same-origin" $link -d "link-page=$shown" \\
  -d cc-number=4000002100000015 -d cc-exp-month=12 -d cc-exp-year=2031 -d cc-csc=123 \\
  -d cc-name=ANNA -d email=anna@shop.example -o result.html
printf '== result\\n%s\\n' "$(grep -o '<p class="warning.*' result.html)"
printf '== portal\\n%s\\n' "$(curl -fsS -H 'x-portal: 1' https://pay.example/portal/api/session)"
until gw order list --merchant acme | grep -E "link-.* approved( |$)"; do :; done
printf '== without the setting\\n%s\\n' "$(GW_REHEARSAL=off gw gate test first-bank 2>&1)"
`;

const openShop = `
chmod 640 tls/rehearsal-ca.pem
echo GW_CALLBACK_PORTS=8443 >> gateway.env
set -a; . ./gateway.env; set +a
`;

const openEndpoint = `
endpoint=$(gw endpoint list acme --json | sed -n 's/.*"id": "\\([0-9]*\\)".*/\\1/p')
gw endpoint set $endpoint --private-callbacks on
`;

const stopAll = "for job in $(jobs -p); do kill $job; wait $job || true; done\n";

async function run(
  folder: string,
  script: string,
  settings: Readonly<Record<string, string>> = {},
) {
  await writeFile(join(folder, "document.sh"), script);
  const shell = startShell("document.sh", folder, settings);
  atEnd(endOfFile, () => shell.stop());
  // The script takes longer than a test waits for a single condition.
  for (let begun = 0; shell.isRunning; ) {
    begun = await until("the next commands begin", () => {
      const count = shell.output.split("== fence").length;
      return count > begun || !shell.isRunning ? count : undefined;
    });
  }
  const log = await readFile(join(folder, "log/gateway.log"), "utf8").catch(() => "");
  assert.equal(shell.child.exitCode, 0, `${shell.output}\n${log.slice(-3_000)}`);
  return shell.output;
}
