/** Checks that `gw apply` runs in one transaction, and that a second run changes nothing. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parse, stringify } from "yaml";
import { type Installation, openInstallation } from "../../installation/installation.ts";
import { makeDirectoryAdministration } from "../../storage/configuration/directories.ts";
import { findEntries } from "../../storage/people/audit-verify.ts";
import { startDatabase } from "../../storage/testing/database-for-tests.ts";
import { Problem } from "../../values/problem.ts";
import { makeSchema } from "../configuration-file.ts";
import { cardTestingRules } from "../merchants/merchant-set.ts";
import { sessionOf } from "../perform.ts";
import { Report, readConfiguration, type Session } from "../session.ts";
import { apply, exportFile } from "./apply.ts";

const gate = {
  kind: "iso87_binary",
  host: "10.0.0.1:5000,10.0.0.2:5000",
  tls: "off",
  terminal: "10000018",
  "merchant-code": "TG1",
  "name-and-place": "Shop US",
  category: "5732",
  country: "840",
  "acquirer-id": "400001",
  descriptor: "SHOP",
  "without-cvv": true,
  currencies: ["USD", "EUR"],
  fee: "1.5%+10",
  "refund-after": "24h",
};
const usd = { currency: "USD", gates: ["one:1:1"], "3ds": "when_possible", min: "1.50" };
const document = {
  gates: { one: gate },
  merchants: {
    shop: {
      "card-keep-days": 90,
      "control-key-file": "shop.key",
      endpoints: { usd, eur: { currency: "EUR", gates: ["one"], enabled: false } },
      groups: { all: { endpoints: ["usd", "eur"] } },
    },
  },
};
const key = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";

let folder: string;
let installation: Installation;
let stop: () => Promise<void>;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-apply-test-"));
  const database = await startDatabase();
  const environment = { GW_DATA_DIR: folder, GW_DATABASE_URL: database.url };
  const opened = await openInstallation({
    environment,
    report: () => undefined,
    besideOthers: true,
  });
  if (opened instanceof Problem) throw new Error(opened.sentence);
  installation = opened;
  stop = database.stop;
  await writeFile(join(folder, "shop.key"), `${key}\n`);
});
after(async () => {
  await installation.close();
  await stop();
  await rm(folder, { recursive: true, force: true });
});

type Applied = {
  readonly applied: boolean;
  readonly changes: readonly { readonly what: string; readonly change: string }[];
};

type Options = { dryRun?: true; prune?: true; environment?: "production" };

async function run(content: object, { environment, ...options }: Options = {}) {
  const file = join(folder, "gateway.yaml");
  await writeFile(file, stringify(content));
  const written = { name: file, open: () => createReadStream(file) };
  const output = await apply(session(environment), { file: written, ...options });
  return (output instanceof Report ? output.value : output) as Applied | Problem;
}

async function exported(given: Parameters<typeof exportFile>[1]): Promise<string> {
  const output = await exportFile(session(), given);
  return output instanceof Report ? String(output.blocks[0]) : assert.fail();
}

function session(environment = installation.config.environment): Session {
  const findings = { note: () => undefined, exist: () => false };
  const ignore = () => undefined;
  const manner = {
    isTrial: false,
    findings,
    reason: undefined,
    report: ignore,
    warn: ignore,
    confirm: async () => false,
    progress: () => ignore,
  };
  const config = { ...installation.config, environment };
  return sessionOf({ ...installation, config }, installation.audit, manner);
}

async function changesOf(...given: Parameters<typeof run>): Promise<readonly string[]> {
  const applied = await run(...given);
  assert.ok(!(applied instanceof Problem), applied instanceof Problem ? applied.sentence : "");
  return applied.changes.map(({ change, what }) => `${change} ${what}`);
}

function listEntries() {
  return findEntries(installation.database.query, { limit: 1_000 });
}

async function countEntries(): Promise<number> {
  return (await listEntries()).length;
}

test("a file creates everything that it names, and changes nothing the second time", async () => {
  const first = await changesOf(document);
  const entries = await countEntries();
  const second = await changesOf(document);

  assert.deepEqual(first, [
    ...["create gate one", "create merchant shop", "create endpoint usd of shop"],
    ...["create endpoint eur of shop", "create group all of shop"],
  ]);
  assert.deepEqual(second, []);
  assert.equal(await countEntries(), entries);
  const { merchants } = await readConfiguration(installation);
  assert.equal(merchants[0]?.controlKey.reveal(), key);
  const audited = await listEntries();
  assert.ok(audited.length > 5 && !JSON.stringify(audited).includes(key));
});

test("an export equals the applied file, and applying it changes nothing", async () => {
  const text = await exported({});
  const written = parse(text);

  const { shop } = written.merchants;
  const defaults = { "partial-reversal": true, "partial-capture": true };
  assert.deepEqual(written.gates.one, { ...gate, ...defaults });
  assert.deepEqual(shop.endpoints.usd, { ...usd, enabled: true });
  assert.equal(shop.endpoints.eur.enabled, false);
  assert.deepEqual(shop.groups.all.endpoints, ["usd", "eur"]);
  assert.ok(!text.includes(key));
  assert.deepEqual(await changesOf(written), []);
  assert.deepEqual(await changesOf(written, { prune: true }), []);
  const schema = makeSchema().properties as Readonly<Record<string, SchemaMap>>;
  const known = (section: string) => schema[section]?.additionalProperties?.properties ?? {};
  assert.ok(Object.keys(written.gates.one).every((name) => name in known("gates")));
  assert.ok(Object.keys(shop).every((name) => name in known("merchants")));
});

type SchemaMap = { readonly additionalProperties?: { readonly properties?: object } };

test("a dry run prints the difference field by field and changes nothing", async () => {
  const entries = await countEntries();
  const changed = { gates: { one: { ...gate, host: "10.0.0.9:5000" } } };

  const told = await run(changed, { dryRun: true });

  assert.deepEqual(told, {
    applied: false,
    changes: [
      {
        what: "gate one",
        change: "change",
        fields: [{ key: "host", before: gate.host, after: "10.0.0.9:5000" }],
      },
    ],
  });
  assert.equal(await countEntries(), entries);
  assert.deepEqual(await changesOf(document), []);
});

// biome-ignore format: a table
const invalid: readonly (readonly [content: object, sentence: RegExp])[] = [
  [{ gate: {} },                                                                           /The file has no section gate\./],
  [{ gates: { two: { ...gate, colour: "red" } } },                                         /The gate two has no setting colour\./],
  [{ gates: { "a b": gate } },                                                             /A name is 1 to 40 letters/],
  [{ gates: { two: gate, three: { kind: "iso87_binary" } } },                              /A gate also needs host/],
  [{ gates: { two: gate }, merchants: { other: { cell: "nowhere" } } },                    /There is no cell nowhere/],
  [{ merchants: { other: { endpoints: { usd: { currency: "USD", gates: ["none"] } } } } }, /There is no gate none/],
  [{ merchants: { other: { endpoints: { usd: { currency: "USD" } } } } },                  /needs at least one gate/],
  [{ merchants: { shop: { endpoints: { usd: { currency: "EUR" } } } } },                   /currency .* cannot be changed/],
  [{ merchants: { shop: { endpoints: { usd: { enabled: "yes" } } } } },                    /enabled is true or false/],
  [{ merchants: { shop: { endpoints: { usd: { "page-tries": 5 } } } } },                   /^The endpoint usd of shop: The payment page shows the shop's name: give the endpoint a shop-name/],
  [{ merchants: { shop: { groups: { all: { endpoints: ["gbp"] } } } } },                   /Not all of these are endpoints of shop/],
  [{ merchants: { shop: { groups: { all: { endpoint: ["usd"] } } } } },                    /The group all of shop has no section endpoint\./],
  [{ merchants: { shop: { "control-key-file": "absent.key" } } },                          /absent\.key cannot be read/],
  [{ screening: { rules: [{ rule: "amount", currency: "USD" }] } },                        /amount: min or max is missing/],
  [{ screening: { rules: [{ rule: "none" }] } },                                           /There is no rule none/],
  [{ screening: { rules: { amount: {} } } },                                               /rules is no list/],
  [{ screening: { rules: [{ rule: "amount", currency: "USD", max: 1, merchant: "who" }] } }, /There is no merchant who/],
  [{ screening: { rules: [{ rule: "amount", currency: "USD", max: 1, merchant: "shop", endpoint: "gbp" }] } }, /shop has 0 endpoints gbp/],
  [{ screening: { rules: [{ rule: "amount", currency: "USD", max: 1, action: "stop" }] } }, /An action is one of/],
  [{ screening: { rules: [{ rule: "amount", currency: "USD", max: 1, action: "constructor" }] } }, /An action is one of/],
  [{ screening: { lists: [] } },                                                           /screening has no lists: gw list import reads their entries, as CSV/],
  [{ screening: { filters: [] } },                                                         /screening has no section filters/],
  [{ merchants: { shop: [] } },                                                            /shop is no map/],
];

test("a file with any fault changes nothing", async () => {
  const entries = await countEntries();

  for (const [content, sentence] of invalid) {
    const refused = await run(content);

    assert.ok(refused instanceof Problem, JSON.stringify(content));
    assert.match(refused.sentence, sentence);
  }
  assert.equal(await countEntries(), entries);
  assert.deepEqual(await changesOf(document), []);
});

test("objects that a file omits stay, unless the file is applied with --prune", async () => {
  const { endpoints, groups, ...shop } = document.merchants.shop;
  const less = { gates: { one: gate }, merchants: { shop: { ...shop, endpoints: { usd } } } };

  assert.deepEqual(await changesOf(less), []);
  assert.deepEqual(await changesOf({ merchants: { shop: { "card-keep-days": null } } }), [
    "change merchant shop",
  ]);
  const two = { gates: { one: gate, two: gate }, merchants: document.merchants };
  assert.deepEqual(await changesOf(two), ["create gate two", "change merchant shop"]);
  assert.deepEqual(await changesOf({ ...document, directories: {} }, { prune: true }), [
    "remove gate two",
  ]);
  assert.deepEqual(await changesOf({ merchants: {} }, { prune: true }), ["disable merchant shop"]);
  assert.deepEqual(await changesOf({ merchants: { shop: { enabled: true } } }), [
    "change merchant shop",
  ]);
});

test("keys are read once from files next to the document, and none is printed", async () => {
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const macKey = "0123456789ABCDEFFEDCBA9876543210";
  await writeFile(join(folder, "oauth.pem"), publicKey.export({ type: "spki", format: "pem" }));
  await writeFile(join(folder, "wallet.pem"), pem);
  await writeFile(join(folder, "mac.hex"), macKey);
  const files = { "oauth-key-files": ["oauth.pem"], "walletb-key-files": ["wallet.pem"] };
  const content = {
    gates: { one: { ...gate, "mac-key-file": "mac.hex", "mac-algorithm": "cmac" } },
    merchants: { shop: files },
  };
  const wrong = { merchants: { shop: { "walletb-key-files": ["mac.hex"] } } };

  const refused = await run(wrong);
  const changes = await changesOf(content);

  assert.match(refused instanceof Problem ? refused.sentence : "", /mac\.hex has no private key/);
  assert.match(changes.join("; "), /^create MAC key of the gate one, check value [0-9A-F]{6};/);
  assert.equal(changes.length, 3);
  assert.deepEqual(await changesOf(content), []);
  assert.ok(!changes.join(" ").includes(macKey));
  const stored = await findEntries(installation.database.query, { limit: 1_000 });
  assert.doesNotMatch(JSON.stringify(stored), /PRIVATE KEY|0123456789ABCDEF/);
});

test("another control key is a renewal with overlap; a third one is refused", async () => {
  const file = join(folder, "shop.key");
  await writeFile(file, "another-key-of-theirs");
  assert.deepEqual(await changesOf(document), ["change control key of shop"]);
  assert.deepEqual(await changesOf(document), []);

  await writeFile(file, "a-third-key-of-theirs");
  const refused = await run(document);

  assert.ok(refused instanceof Problem);
  assert.match(refused.sentence, /shop has an old control key/);
});

test("rules are applied and exported alike, and pruned", async () => {
  const rule = { rule: "amount", merchant: "shop", endpoint: "usd", currency: "USD", max: 100 };
  const screening = {
    rules: [rule, { rule: "amount", action: "mark", enabled: false, currency: "EUR", min: "1" }],
  };

  assert.deepEqual(await changesOf({ screening }), ["create rule amount", "create rule amount"]);
  assert.deepEqual(await changesOf({ screening }), []);
  const whole = parse(await exported({}));
  assert.equal(whole.screening.rules.length, 2);
  assert.deepEqual(await changesOf({ screening: whole.screening }, { prune: true }), []);

  const less = { screening: { rules: [{ ...rule, action: "mark" }] } };
  assert.deepEqual(await changesOf(less, { prune: true }), [
    ...["change rule amount", "remove rule 2 amount"],
  ]);
});

test("a new merchant in production starts with rules, unless the file says which it has", async () => {
  const environment = "production";
  const rules = [{ rule: "velocity", merchant: "ruled", per: "card", count: 3, window: "1h" }];
  const actionsOf = async (login: string) => {
    const { merchants, screeningRules } = await readConfiguration(installation);
    const { id } = merchants.find((each) => each.login === login) ?? {};
    return screeningRules.filter((each) => each.merchantId === id).map(({ action }) => action);
  };

  await changesOf({ merchants: { filed: {}, ruled: {} }, screening: { rules } }, { environment });
  await makeDirectoryAdministration(installation.audit, installation.database.query).put({
    name: "one",
    networks: ["VISA"],
    settings: {
      certificateFile: "",
      keyFile: "",
      authorityFile: "",
      referenceNumber: "",
      operatorId: "",
      requestorId: "",
      requestorName: "",
      requestorUrl: "",
    },
  });
  await changesOf({ merchants: { authenticated: {} } }, { environment });

  assert.deepEqual(await actionsOf("filed"), ["block", "mark", "mark", "block", "block"]);
  assert.deepEqual(await actionsOf("ruled"), ["block"]);
  assert.deepEqual(
    await actionsOf("authenticated"),
    cardTestingRules.map(({ action }) => action),
  );
  const whole = { merchants: { bare: {} }, screening: { rules } };
  await changesOf(whole, { environment, prune: true });
  assert.deepEqual([await actionsOf("bare"), await actionsOf("filed")], [[], []]);
});

test("a change by a file writes the same single audit entry as the command", async () => {
  const plain = { currency: "USD", gates: ["one:1:1"] };
  const shop = (more: object = {}) => ({
    merchants: { entries: { endpoints: { plain }, ...more } },
  });
  const actionsOf = async (content: object) => {
    const before = await countEntries();
    await changesOf(content);
    return (await listEntries()).slice(before).map(({ action }) => action);
  };
  const changed = (endpoint: object) => shop({ endpoints: { plain: { ...plain, ...endpoint } } });

  assert.deepEqual(await actionsOf(shop()), ["merchant create", "endpoint create"]);
  assert.deepEqual(await actionsOf(changed({ max: "9.00" })), ["endpoint set"]);
  assert.deepEqual(await actionsOf(changed({ gates: ["one:2:1"] })), ["endpoint gates"]);
  const groups = { all: { endpoints: ["plain"] } };
  const same = { endpoints: {}, groups };
  assert.deepEqual(await actionsOf(shop(same)), ["group create"]);
  assert.deepEqual(await actionsOf(shop({ endpoints: {}, enabled: false })), ["merchant disable"]);
});
