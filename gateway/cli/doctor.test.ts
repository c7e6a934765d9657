/** Checks the output of `gw config`, and the refusals when an installation cannot open. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { describeConfig, readConfig } from "../config/config.ts";
import { type Setting, settings } from "../config/settings.ts";
import { describeUnusable } from "../installation/database-server.ts";
import { Problem } from "../values/problem.ts";
import { printValue } from "./doctor.ts";

const environments = [
  {},
  { GW_ENV: "production", GW_BASE_URL: "https://pay.example", GW_MASTER_KEY_FILE: "a.key" },
];

test("a value that gw config prints is an input for the same setting", () => {
  for (const environment of environments) {
    const config = readConfig(environment);
    assert.ok(!(config instanceof Problem));
    const printed = new Map(
      describeConfig(environment).map(({ name, value }) => [name, printValue(name, value)]),
    );

    for (const [key, { name, read }] of Object.entries<Setting<unknown>>(settings)) {
      const text = printed.get(name) ?? "";
      if (text !== "") assert.deepEqual(read(text), Object(config)[key], `${name} ${text}`);
    }
    assert.equal(printed.get("GW_CALLBACK_TIMEOUT_S"), "15");
  }
});

test("a database server without TLS is named as the cause, with the setting that it needs", () => {
  const config = readConfig({ GW_DATABASE_URL: "postgres://gw@db.example/payments" });
  assert.ok(!(config instanceof Problem));
  const told = (cause: string) => describeUnusable(config, new Error(cause)).sentence;

  const without = told("The server does not support SSL connections");
  assert.match(
    without,
    /cannot be used: The server does not support SSL connections\. Set `ssl = on`/,
  );
  assert.doesNotMatch(without, /password/);
  assert.match(told("connect ECONNREFUSED"), /Check that it runs and that address and password/);
});
