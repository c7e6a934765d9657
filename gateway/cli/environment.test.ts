/** What production needs for results of challenges to arrive, from directory servers only. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../config/config.ts";
import type { DirectoryServer, DirectorySettings } from "../threeds/directory-client.ts";
import { Problem } from "../values/problem.ts";
import { findResultTroubles } from "./environment.ts";

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
      ...{ certificateFile: "", keyFile: "", authorityFile: "" },
      ...{
        referenceNumber: "",
        operatorId: "",
        requestorId: "",
        requestorName: "",
        requestorUrl: "",
      },
      ...settings,
    },
  };
}
