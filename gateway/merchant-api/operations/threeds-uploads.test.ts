/** The addresses to which the issuer may send the browser after a challenge. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeAddressChecks } from "../../callbacks/addresses.ts";
import type { EndpointSettings } from "../../orders/merchant.ts";
import type { Context } from "../operation.ts";
import { endpointWith, entryPointOf } from "../testing.ts";
import { uploadMethodUrlResult } from "./threeds-uploads.ts";

// biome-ignore format: a table
const cases: readonly (readonly [environment: string, url: string | undefined, own: Partial<EndpointSettings>, fault: string | undefined])[] = [
  ["production", "http://shop.example/3ds",  {},                       "notificationURL: https:// is needed"],
  ["production", "http://shop.example/3ds",  { plainAddresses: true }, undefined],
  ["production", "https://shop.example/3ds", {},                       undefined],
  ["production", undefined,                  {},                       undefined],
  ["staging",    "http://shop.example/3ds",  {},                       undefined],
];

for (const [environment, notificationURL, own, fault] of cases) {
  const result = fault === undefined ? "taken" : "refused";
  test(`${environment}: the notificationURL ${notificationURL} is ${result} with ${JSON.stringify(own)}`, () => {
    const closed = { callbackPorts: "", callbackPrivateNetworks: "", callbackNames: "" };
    const endpoint = endpointWith([]);
    const entryPoint = entryPointOf({ ...endpoint, settings: { ...endpoint.settings, ...own } });
    const services = makeAddressChecks({ ...closed, environment });
    // The rule reads only these values.
    const context = { entryPoint, services } as unknown as Context;

    const faults = uploadMethodUrlResult.rules?.({ notificationURL }, context) ?? [];

    assert.deepEqual(
      faults.map(({ detail }) => detail),
      fault === undefined ? [] : [fault],
    );
  });
}
