/** Checks why production refuses to start, such as false 3-D Secure results or sandbox roots. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readConfig } from "../config/config.ts";
import type { DirectoryServer, DirectorySettings } from "../threeds/directory-client.ts";
import { Problem } from "../values/problem.ts";
import { findResultTroubles, findSandboxRoots, findUnbuilt } from "./environment.ts";

const places = {
  GW_RESULTS_URL: "https://results.example",
  GW_RESULTS_CERTIFICATE_FILE: "results.pem",
  GW_RESULTS_KEY_FILE: "results.key",
};
const named: Partial<DirectorySettings> = {
  url: "https://network.example",
  resultsName: "network",
};
const nameless: Partial<DirectorySettings> = { url: "https://network.example" };

// biome-ignore format: a table
const rows: readonly (readonly [what: string, environment: object, settings: Partial<DirectorySettings>, told: RegExp | undefined])[] = [
  ["all that it needs",           places,                                       named,                        undefined],
  ["no address for results",      { ...places, GW_RESULTS_URL: "" },              named,                        /^GW_RESULTS_URL is not set/],
  ["no certificate for results",  { ...places, GW_RESULTS_CERTIFICATE_FILE: "" }, named,                        /^GW_RESULTS_CERTIFICATE_FILE is not set/],
  ["no key for results",          { ...places, GW_RESULTS_KEY_FILE: "" },         named,                        /^GW_RESULTS_KEY_FILE is not set/],
  ["no name for its certificate",   places,                                       nameless,                     /^The directory server visa has no --results-name/],
  ["only 1.0.2, without results", {},                                           { url102: "https://a.example" }, undefined],
];

for (const [what, environment, settings, told] of rows) {
  test(`a directory server with ${what}`, () => {
    const config = readConfig({ ...environment });
    assert.ok(!(config instanceof Problem));

    const troubles = findResultTroubles(config, [serverWith(settings)]);

    assert.equal(troubles.length, told === undefined ? 0 : 1);
    if (told !== undefined) assert.match(troubles[0] ?? "", told);
  });
}

function serverWith(settings: Partial<DirectorySettings>): DirectoryServer {
  return {
    name: "visa",
    networks: [],
    settings: {
      certificateFile: "",
      keyFile: "",
      authorityFile: "",
      referenceNumber: "",
      operatorId: "",
      requestorId: "",
      requestorName: "",
      requestorUrl: "",
      ...settings,
    },
  };
}

const pem = (text: string) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;

// biome-ignore format: a table
const roots: readonly (readonly [what: string, text: string, isMarked: boolean, told: RegExp | undefined])[] = [
  ["keys of the wallet",            '{"keys":[]}',                 false, undefined],
  ["keys of the sandbox",           '{"keys":[],"sandbox": true}', false, /^GW_ROOTS trusts the sandbox/],
  ["a file in the sandbox's folder", '{"keys":[]}',                true,  /^GW_ROOTS trusts the sandbox/],
  ["a block that is no certificate", pem("AAAA"),                  false, /^GW_ROOTS has a PEM block/],
];

for (const [what, text, isMarked, told] of roots) {
  test(`the roots of a wallet are ${what}`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "tollgate-roots-"));
    t.after(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, "roots"), text);
    if (isMarked) await writeFile(join(folder, "SANDBOX"), "");

    const [sentence] = await findSandboxRoots("GW_ROOTS", join(folder, "roots"));

    if (told === undefined) assert.equal(sentence, undefined);
    else assert.match(sentence ?? "", told);
  });
}

test("the refusal names each site that is not built, with the command that builds it", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-unbuilt-"));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "portal/dist"), { recursive: true });
  await writeFile(join(folder, "portal/dist/index.html"), "");

  const told = `run \`npm ci && node docs-site/build.ts\` in ${folder}.`;
  assert.deepEqual(findUnbuilt(folder), [`The documentation is not built: ${told}`]);
});
