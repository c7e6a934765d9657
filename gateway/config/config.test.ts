/** The key-encryption key, the addresses that may be signed, the number of processes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../values/problem.ts";
import {
  countWorkers,
  describeConfig,
  type Environment,
  findUnknownSettings,
  readConfig,
  signedUrlsOf,
} from "./config.ts";

const key = "4".repeat(64);
const production = { GW_ENV: "production", GW_BASE_URL: "https://pay.example" };
const parts = { GW_MASTER_KEY_PART_FILE_1: "one", GW_MASTER_KEY_PART_FILE_2: "two" };

// biome-ignore format: a table
const cases: readonly (readonly [environment: Environment, complaint: RegExp | undefined])[] = [
  [{},                                                        undefined],
  [production,                                                /In production GW_MASTER_KEY_FILE must name/],
  [{ ...production, GW_MASTER_KEY_FILE: "a.key" },            undefined],
  [{ ...production, GW_MASTER_KEY: key },                     undefined],
  [{ ...production, GW_MASTER_KEY_COMMAND: "print-key" },     undefined],
  [{ ...production, ...parts },                               undefined],
  [{ ...production, TOLLGATE_KEY_FROM_PARENT: "1" },          undefined],
  [{ GW_MASTER_KEY: key, GW_MASTER_KEY_FILE: "a.key" },       /one place: give one of GW_MASTER_KEY_FILE, GW_MASTER_KEY\.$/],
  [{ ...parts, GW_MASTER_KEY_COMMAND: "print-key" },          /one place: give one of GW_MASTER_KEY_COMMAND, GW_MASTER_KEY_PART_FILE_1/],
  [{ GW_MASTER_KEY_PART_FILE_2: "two" },                      /Give both GW_MASTER_KEY_PART_FILE_1 and GW_MASTER_KEY_PART_FILE_2/],
  [{ GW_NEW_MASTER_KEY: key, GW_NEW_MASTER_KEY_FILE: "b" },   /one place: give one of GW_NEW_MASTER_KEY_FILE, GW_NEW_MASTER_KEY\.$/],
];

test("the key-encryption key comes from exactly one place", () => {
  for (const [environment, complaint] of cases) {
    const config = readConfig(environment);
    const told = config instanceof Problem ? config.sentence : undefined;

    if (complaint === undefined) assert.equal(told, undefined);
    else assert.match(told ?? "", complaint);
    assert.ok(!(told ?? "").includes(key));
  }
});

test("production needs an https:// address: without it the portal's cookie would go unencrypted", () => {
  for (const GW_BASE_URL of ["", "http://pay.example", "ftp://pay.example", "http://localhost"]) {
    const config = readConfig({ ...production, GW_MASTER_KEY: key, GW_BASE_URL });

    assert.match(
      config instanceof Problem ? config.sentence : "",
      /In production GW_BASE_URL must be an https/,
    );
  }
});

test("a rehearsal is one of production", () => {
  const rehearsal = { GW_REHEARSAL: "on", GW_MASTER_KEY: key };
  const refused = readConfig(rehearsal);
  const config = readConfig({ ...production, ...rehearsal });

  assert.match(refused instanceof Problem ? refused.sentence : "", /^GW_REHEARSAL needs GW_ENV=/);
  assert.ok(!(config instanceof Problem) && config.rehearsal);
});

test("a key in the environment is not printed with the settings", () => {
  const described = describeConfig({ GW_MASTER_KEY: key });

  const row = described.find(({ name }) => name === "GW_MASTER_KEY");
  assert.equal(String(row?.value), "[secret]");
  assert.ok(!JSON.stringify(described).includes(key));
});

test("a switch is shown as it is written", () => {
  const described = describeConfig({ GW_LINE_FEEDS: "on" });
  const shownOf = (wanted: string) => described.find(({ name }) => name === wanted)?.value;

  assert.deepEqual([shownOf("GW_LINE_FEEDS"), shownOf("GW_USERS_ONLY")], ["on", "off"]);
});

test("requests are signed for the public address; in staging this machine's names will do", () => {
  const urlsOf = (environment: Environment) => {
    const config = readConfig(environment);
    assert.ok(!(config instanceof Problem));
    return signedUrlsOf(config, 8080);
  };
  const own = ["http://localhost:8080", "http://127.0.0.1:8080"];

  assert.deepEqual(urlsOf({}), own);
  assert.deepEqual(urlsOf({ GW_BASE_URL: "https://try.example/" }), [
    "https://try.example",
    ...own,
  ]);
  assert.deepEqual(urlsOf({ ...production, GW_MASTER_KEY: key }), ["https://pay.example"]);
});

test("a colour that cannot be read on white is refused with a sentence", () => {
  for (const [colour, isRefused] of [
    ["#0f766e", false],
    ["#ffd400", true],
    ["teal", true],
  ] as const) {
    const config = readConfig({ GW_PAGE_ACCENT: colour });
    const told = config instanceof Problem ? config.sentence : "";

    assert.equal(/^GW_PAGE_ACCENT must be a colour .* read on white/.test(told), isRefused);
  }
});

// biome-ignore format: a table
const workerCases = [
  [0, 1, 1], [0, 2, 1], [0, 3, 1], [0, 4, 2], [0, 16, 8], [0, 128, 8],
  [1, 16, 1], [3, 2, 3], [12, 128, 12],
] as const;

test("a process runs for every two cores, up to eight, unless the operator says how many", () => {
  for (const [workers, cores, count] of workerCases) {
    assert.equal(countWorkers({ workers }, [], cores), count);
  }
});

test("there are no more processes than a gate has connections", () => {
  const gates = [
    { settings: { connections: 4 } },
    { settings: {} },
    { settings: { connections: 3 } },
  ];

  assert.equal(countWorkers({ workers: 0 }, gates, 16), 3);
  assert.equal(countWorkers({ workers: 5 }, gates, 16), 3);
  assert.equal(countWorkers({ workers: 2 }, gates, 16), 2);
});

test("a share of the connections is one of as many as there are", () => {
  for (const [text, isRefused] of [
    ["1/1", false],
    ["2/2", false],
    ["3/2", true],
    ["0/2", true],
    ["1/100", true],
    ["half", true],
  ] as const) {
    assert.equal(readConfig({ GW_LINK_SHARE: text }) instanceof Problem, isRefused, text);
  }
});

test("the portal's address has neither a path nor a query nor a user", () => {
  const isTaken = (url: string) => !(readConfig({ GW_PORTAL_URL: url }) instanceof Problem);

  for (const url of ["", "https://portal.example", "https://portal.example:8443/"]) {
    assert.ok(isTaken(url), url);
  }
  for (const url of [
    ...["portal.example", "ftp://portal.example", "https://", "https://me@portal.example"],
    ...["https://portal.example/portal", "https://portal.example/?a", "https://portal.example?"],
    "https://portal.example/#",
  ]) {
    assert.ok(!isTaken(url), url);
  }
});

test("a lease without slack is refused: no charge could be sent within it", () => {
  assert.ok(readConfig({ GW_LEASE_SLACK_S: "0" }) instanceof Problem);
  assert.ok(!(readConfig({ GW_LEASE_SLACK_S: "0.5" }) instanceof Problem));
});

test("a wallet's payment method is an https URL, which browsers take for one", () => {
  const isTaken = (method: string) =>
    !(readConfig({ GW_WALLETA_METHOD: method, GW_WALLETB_METHOD: method }) instanceof Problem);

  for (const method of ["", "https://wallet.example/pay"]) assert.ok(isTaken(method), method);
  for (const method of [
    "wallet",
    "http://wallet.example/",
    "https://me@wallet.example/",
    "https://",
  ]) {
    assert.ok(!isTaken(method), method);
  }
});

test("a variable that is no setting is found, with the setting that was probably meant", () => {
  const environment = {
    GW_PROT: "1",
    GW_DATABASE_URLS: "",
    GW_PORT: "1",
    GW_HOSTESS_NAMES: "",
    PATH: "",
    GW_NEW_MASTER_KEY_FILE: "a",
    GW_MASTER_KEY: "b",
  };

  assert.deepEqual(findUnknownSettings(environment), [
    { name: "GW_PROT", meant: "GW_PORT" },
    { name: "GW_DATABASE_URLS", meant: "GW_DATABASE_URL" },
    { name: "GW_HOSTESS_NAMES", meant: undefined },
  ]);
});
