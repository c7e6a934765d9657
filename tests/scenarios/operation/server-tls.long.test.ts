/** A gateway of two processes that terminates TLS itself, with its metrics on a separate port. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { Agent, type RequestOptions, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { type ConnectionOptions, connect } from "node:tls";
import { makeAuthority } from "../../support/bank/tls-line.ts";
import { atEnd } from "../../support/clean-up.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { startProcess } from "../../support/gateway-process.ts";
import { copyInstallation } from "../../support/installation.ts";
import { saleFields } from "../../support/merchant.ts";
import { until } from "../../support/until.ts";
import { formOf, sha1 } from "../../support/wire.ts";

const rulesFile = "../../../deploy/prometheus/tollgate.rules.yml";

test("two processes share a port with TLS, load a new certificate, and add up their metrics", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "tollgate-tls-"));
  atEnd(t, () => rm(dataDir, { recursive: true, force: true, maxRetries: 10 }));
  const authority = await makeAuthority("Root");
  const [certificate, key] = [join(dataDir, "tls.pem"), join(dataDir, "tls.key")];
  const install = async (name: string) => {
    const made = await authority.issue(name, 30);
    await writeFile(certificate, made.cert);
    await writeFile(key, made.key, { mode: 0o600 });
  };
  await install("first");
  const gateway = await startProcess(endOfFile, {
    dataDir,
    env: {
      GW_DATABASE_URL: await copyInstallation(dataDir),
      GW_WORKERS: "2",
      GW_ADMIN_PORT: "0",
      GW_TLS_CERTIFICATE_FILE: certificate,
      GW_TLS_KEY_FILE: key,
      GW_TLS_RELOAD_EVERY_S: "0.05",
    },
  });
  atEnd(t, () => gateway.stop());
  const { demo, baseUrl } = gateway;
  const port = Number(new URL(baseUrl).port);
  const secure = { host: "127.0.0.1", port, ca: authority.ca, servername: "localhost" };
  const [, adminPort] = /health and figures on port (\d+)/.exec(gateway.output) ?? [];
  const adminUrl = `http://127.0.0.1:${adminPort}`;
  let paid = 0;
  const pay = async (options: RequestOptions) => {
    const fields = saleFields();
    const endpoint = demo.endpoints["plain"] ?? "";
    const { client_orderid = "", email = "" } = fields;
    const signed = `${endpoint}${client_orderid}1015${email}${demo.merchant.controlKey}`;
    const path = `/gw/api/v2/sale/${endpoint}`;
    const answer = await ask(
      { ...secure, ...options, path },
      formOf({ ...fields, control: sha1(signed) }),
    );
    assert.match(answer.body, /type=async-response/, answer.body);
    paid += 1;
    return answer;
  };

  const { headers } = await pay({ agent: false });
  assert.match(baseUrl, /^https:/);
  assert.match(String(headers["strict-transport-security"]), /max-age=\d{8}/);

  // The certificate changes while payments arrive on old and new connections.
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  atEnd(t, async () => agent.destroy());
  let isOver = false;
  const paying = [{ agent }, { agent }, { agent: false as const }].map(async (options) => {
    while (!isOver) await pay(options);
  });
  await install("second");
  await until("both processes show the new certificate", async () => {
    const shown = await Promise.all(Array.from({ length: 8 }, () => nameShown(secure)));
    return shown.every((name) => name === "second") || undefined;
  });
  isOver = true;
  await Promise.all(paying);

  for (const path of ["/metrics", "/health/live", "/health/ready"]) {
    assert.equal((await ask({ ...secure, path, agent: false })).status, 404, path);
    assert.equal((await fetch(`${adminUrl}${path}`)).status, 200, path);
  }
  assert.equal((await fetch(`${adminUrl}/gw/api/v2/sale/1`, { method: "POST" })).status, 404);
  const figures = await (await fetch(`${adminUrl}/metrics`)).text();
  const counted = figures.matchAll(
    /^tollgate_requests_total\{operation="sale",type="async-response",.*node="(.*)"\} (\d+)$/gm,
  );
  const byNode = new Map([...counted].map(([, node, count]) => [node, Number(count)]));
  assert.equal(byNode.size, 2, figures.slice(0, 3000));
  assert.equal(
    [...byNode.values()].reduce((sum, count) => sum + count),
    paid,
  );
  assert.equal(figures.match(/^# TYPE tollgate_requests_total /gm)?.length, 1);
  const rules = await readFile(new URL(rulesFile, import.meta.url), "utf8");
  for (const [name] of rules.matchAll(/tollgate_\w+(?=[[){ ])/g)) {
    const [figure] = name.split("_bucket");
    assert.ok(figures.includes(`# TYPE ${figure} `), name);
  }
});

async function ask(options: RequestOptions, body?: string) {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const asked = request({ ...options, method: body === undefined ? "GET" : "POST", headers });
  asked.end(body);
  const [answer] = await once(asked, "response");
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

async function nameShown(options: ConnectionOptions): Promise<string> {
  const client = connect(options);
  await once(client, "secureConnect");
  const { subject } = client.getPeerCertificate();
  client.destroy();
  return String(subject.CN);
}
