/** The client that a request counts for is named by the operator's own proxies only. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { clientNetworkOf, findClientAddress, makeIsTrusted, onlyInside } from "./client-network.ts";
import type { HttpRequest, HttpRoute } from "./router.ts";

// biome-ignore format: a table
const networks: readonly (readonly [header: string | undefined, network: string | undefined])[] = [
  [undefined,                                  undefined],
  ["",                                         undefined],
  ["unknown",                                  undefined],
  ["203.0.113.7",                              "203.0.113.7"],
  ["10.0.0.1, 198.51.100.2 , 203.0.113.7",     "203.0.113.7"],
  ["203.0.113.7:54321",                        "203.0.113.7"],
  ["::ffff:203.0.113.7",                       "203.0.113.7"],
  ["2001:db8:1:2:3:4:5:6",                     "2001:db8:1:2"],
  ["2001:0DB8:0001:0002::9",                   "2001:db8:1:2"],
  ["[2001:db8:1:2::9]:443",                    "2001:db8:1:2"],
  ["2001:db8::1",                              "2001:db8:0:0"],
  ["::1",                                      "0:0:0:0"],
  ["203.0.113.7, 999.1.1.1",                   undefined],
];

test("a client is whom the last proxy names, and a household is one client", () => {
  for (const [header, network] of networks) {
    const headers = header === undefined ? {} : { "x-forwarded-for": header };
    assert.equal(clientNetworkOf(headers), network, String(header));
  }
});

// biome-ignore format: a table
const behindProxies: readonly (readonly [header: string, network: string | undefined])[] = [
  ["203.0.113.7",                          "203.0.113.7"],
  ["203.0.113.7, 10.1.2.3",                "203.0.113.7"],
  ["198.51.100.1, 203.0.113.7, 10.1.2.3",  "203.0.113.7"],
  ["203.0.113.7, ::ffff:10.1.2.3",         "203.0.113.7"],
  ["203.0.113.7, 2001:db8::1",             "203.0.113.7"],
  ["203.0.113.7, unknown, 10.1.2.3",       undefined],
  ["10.1.2.3",                             undefined],
];

test("a client that writes the header itself stays the one that the proxy named", () => {
  const isTrusted = makeIsTrusted(["10.0.0.0/8", "2001:db8::/32"]);

  for (const [header, network] of behindProxies) {
    assert.equal(clientNetworkOf({ "x-forwarded-for": header }, isTrusted), network, header);
  }
});

// biome-ignore format: a table
const forwarded: readonly (readonly [header: string, network: string | undefined])[] = [
  ["for=203.0.113.7",                                            "203.0.113.7"],
  ['for="[2001:db8:1:2::9]:4711";proto=https;by=10.1.2.3',       "2001:db8:1:2"],
  ["proto=http;For=203.0.113.7:99, for=10.1.2.3",                "203.0.113.7"],
  ['for=192.0.2.1;host="a, for=198.51.100.1, for=203.0.113.7',   "203.0.113.7"],
  ["for=203.0.113.7, for=unknown",                               undefined],
  ["for=_hidden",                                                undefined],
  ["by=203.0.113.7",                                             undefined],
];

test("where proxies write Forwarded, that counts and X-Forwarded-For does not", () => {
  const isTrusted = makeIsTrusted(["10.0.0.0/8"]);

  for (const [header, network] of forwarded) {
    const headers = { forwarded: header, "x-forwarded-for": "192.0.2.99" };
    assert.equal(clientNetworkOf(headers, isTrusted, "forwarded"), network, header);
    assert.equal(clientNetworkOf(headers, isTrusted), "192.0.2.99");
  }
});

test("a client has no address where its proxy names none, and its own without a proxy", () => {
  const isTrusted = makeIsTrusted(["10.0.0.0/8"]);
  const addressFrom = (remoteAddress: string, header?: string) => {
    const headers = header === undefined ? {} : { "x-forwarded-for": header };
    const request = { headers, socket: { remoteAddress } };
    // The function reads only the address of a socket.
    type Asking = Parameters<typeof findClientAddress>[0];
    return findClientAddress(request as Asking, isTrusted, "x-forwarded-for");
  };

  for (const header of [undefined, "", "unknown", "10.1.2.4"]) {
    assert.equal(addressFrom("::ffff:10.1.2.3", header), undefined, String(header));
  }
  assert.equal(addressFrom("10.1.2.3", "203.0.113.7"), "203.0.113.7");
  assert.equal(addressFrom("203.0.113.8", "203.0.113.7"), "203.0.113.8");
});

test("clients outside of the operator's networks are told nothing, nor those without a name", async () => {
  const proxies = {
    isTrusted: makeIsTrusted(["10.0.0.0/8"]),
    proxyHeader: "x-forwarded-for",
  } as const;
  const answer = async () => ({ status: 200, headers: {}, body: "" });
  const portal: HttpRoute = { method: "GET", path: "/", answer };
  const [inside] = onlyInside([portal], ["192.0.2.0/24"], proxies);
  const statusFor = async (remoteAddress: string, forwarded?: string) => {
    const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
    const request = { headers, socket: { remoteAddress } } as unknown as HttpRequest;
    return (await inside?.answerEarly?.(request))?.status;
  };

  assert.equal(await statusFor("192.0.2.7"), undefined);
  assert.equal(await statusFor("10.0.0.1", "192.0.2.7"), undefined);
  assert.equal(await statusFor("203.0.113.7"), 404);
  assert.equal(await statusFor("10.0.0.1", "203.0.113.7"), 404);
  assert.equal(await statusFor("10.0.0.1"), 403);
  assert.deepEqual(onlyInside([portal], [], proxies), [portal]);
});
