/** How the key-encryption key gets into the gateway's processes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { deleteGivenKeys } from "./master-key.ts";

test("a key that came by the environment is not handed on to programs", () => {
  const given = { GW_MASTER_KEY: "5".repeat(64), GW_NEW_MASTER_KEY: "6".repeat(64) };
  Object.assign(process.env, given);

  deleteGivenKeys(process.env);

  for (const name of Object.keys(given)) assert.equal(process.env[name], undefined);
});

test("settings that are not this process's own are left alone", () => {
  const environment = { GW_MASTER_KEY: "5".repeat(64) };

  deleteGivenKeys(environment);

  assert.ok("GW_MASTER_KEY" in environment);
});
