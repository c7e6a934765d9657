/** v4: every operation signed by OAuth, and the refusal of everything that is not. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { makeClient } from "@tollgate/client";
import { assertRefused } from "../support/expect.ts";
import { about, rebillFields, saleFields } from "../support/merchant.ts";
import { formFields } from "../support/posted-page.ts";
import {
  authorizationFor,
  deniedChecks,
  formOf,
  giveKey,
  makeKeyPair,
  post,
  postSigned,
  type Signer,
  send,
  signedSale,
  type Wrong,
  worldsWithKey,
} from "../support/wire.ts";
import type { World } from "../support/world.ts";

const keys = makeKeyPair();
const strange = makeKeyPair();
const signer: Signer = { consumerKey: "demo", privateKey: keys.privateKey };

const { startSigned, joinSigned } = worldsWithKey(keys);

test("every operation exists in v4, at an endpoint and at a group", async (t) => {
  const world = await joinSigned(t);
  const oauth = { ...signer, now: () => world.clock.now() };
  const client = makeClient({ baseUrl: world.gateway.url, oauth, tries: 1 });

  for (const at of [client.endpoint(plain(world)), client.group(world.set.group)]) {
    const sold = await at.sale(saleFields());
    const held = await at.preauth(saleFields());
    await at.accountVerification(saleFields());
    for (const open of [at.saleForm, at.preauthForm, at.accountVerificationForm]) {
      assert.equal((await open(formFields())).type, "async-form-response");
    }
    await world.settle();
    const { "card-ref-id": cardrefid = "" } = await at.createCardRefV4(about(sold, {}));
    assert.equal((await at.getCardInfo({ cardrefid })).type, "get-card-info-response");
    await at.makeRebill(rebillFields({ cardrefid }));
    await at.makeRebillSale(rebillFields({ cardrefid }));
    await at.makeRebillPreauth(rebillFields({ cardrefid }));
    assert.equal((await at.removeCardRef({ cardrefid })).type, "remove-card-ref-response");
    await assertRefused(at.removeCardRef({ cardrefid }), 8);
    await at.payout({ ...payout, client_orderid: `payout-${sold["gw-order-id"]}` });
    const byRef = { ...payout, client_orderid: `by-ref-${sold["gw-order-id"]}` };
    await assertRefused(at.payoutByRef({ ...byRef, "destination-card-ref-id": cardrefid }), 8);
    await at.capture(about(held, {}));
    await at.return(about(sold, {}));
    const taken = await at.sale(saleFields());
    await world.settle();
    await at.void(about(taken, {}));
    await world.settle();
    // The order has nothing to upload for, and the refusal shows that the request was accepted.
    const order = { "client-order-id": sold["merchant-order-id"], orderid: sold["gw-order-id"] };
    const ran = { threeDSServerTransID: randomUUID(), threeDSCompInd: "Y" };
    await assertRefused(at.uploadMethodUrlResult({ ...order, ...ran }), 9);
    await assertRefused(at.uploadCresResult({ ...order, cres: "e30" }), 9);
    await assertRefused(at.uploadParesResult({ ...order, paRes: "eJw", md: "md" }), 9);
    assert.equal((await at.status(about(sold, {})))["order-stage"], "reversal_approved");
    assert.equal((await at.status(about(held, {})))["order-stage"], "capture_approved");
    assert.equal((await at.status(about(taken, {})))["order-stage"], "void_approved");
  }
  const own = new Set(["id", "sync", "waitForResult", "createCardRef"]);
  // Profiles have no path for groups. They and tickets have tests of their own.
  const names = Object.keys(client.endpoint("1")).filter(
    (name) => !own.has(name) && !/RecurringPayment|Ticket/.test(name),
  );
  assert.deepEqual(names.sort(), [...called].sort());
});

const payout = { amount: "1.00", currency: "USD", credit_card_number: "4000001000000018" };

const called = [
  ...["sale", "preauth", "accountVerification", "capture", "return", "void", "status"],
  ...["payout", "payoutByRef"],
  ...["saleForm", "preauthForm", "accountVerificationForm"],
  ...[
    "createCardRefV4",
    "getCardInfo",
    "removeCardRef",
    "makeRebill",
    "makeRebillSale",
    "makeRebillPreauth",
  ],
  ...["uploadMethodUrlResult", "uploadCresResult", "uploadParesResult"],
];

test("the synchronous variants exist too", async (t) => {
  const world = await joinSigned(t);
  const oauth = { ...signer, now: () => world.clock.now() };
  const { sync } = makeClient({ baseUrl: world.gateway.url, oauth }).endpoint(plain(world));

  const sold = await sync.sale(saleFields());
  const held = await sync.preauth(saleFields());

  assert.equal(sold.status, "approved");
  assert.equal((await sync.accountVerification(saleFields())).status, "approved");
  const ids = (order: typeof sold) => ({
    client_orderid: order["merchant-order-id"],
    orderid: order["gw-order-id"],
  });
  assert.equal((await sync.capture(ids(held))).status, "approved");
  assert.equal((await sync.return(ids(sold))).status, "approved");
});

test("login and control are not needed, and ignored when they are sent", async (t) => {
  const world = await joinSigned(t);
  const path = salePath(world);
  const fields = saleFields();

  const first = read(await postSigned(world, signer, path, fields));
  const wrong = { ...fields, login: "somebody else, with a long name", control: "nonsense" };
  const again = read(await postSigned(world, signer, path, wrong));
  const checksum = signedSale(world, plain(world), fields);
  const inV2 = read(await post(world, `/gw/api/v2/sale/${plain(world)}`, checksum));

  assert.equal(first["type"], "async-response");
  assert.equal(again["gw-order-id"], first["gw-order-id"]);
  assert.equal(inV2["gw-order-id"], first["gw-order-id"]);
});

const without = (name: string) => (header: string) =>
  header.replace(new RegExp(`(, )?${name}="[^"]*"`), "").replace("OAuth , ", "OAuth ");

// biome-ignore format: a table
const denied: readonly (readonly [wrong: Wrong, check: string])[] = [
  [{ signed: { amount: "1.15" } },                            "signature"],
  [{ signed: {} },                                            "signature"],
  [{ url: "http://localhost:1/gw/api/v4/sale/1" },            "signature"],
  [{ method: "GET" },                                         "signature"],
  [{ method: "" },                                            "signature"],
  [{ privateKey: strange.privateKey },                        "signature"],
  [{ hash: "sha1" },                                          "signature"],
  [{ header: (right) => right.replace(/oauth_nonce="[^"]*"/, 'oauth_nonce="another"') }, "signature"],
  [{ header: (right) => right.replace('version="1.0"', 'version="1.0", oauth_token="x"') }, "signature"],
  [{ header: (right) => right.replace(/(signature=")[^"]*/, "$1AAAA") }, "signature"],
  [{ header: (right) => right.replace(/(signature=")[^"]*/, "$1%21") }, "signature"],
  [{ consumerKey: "nobody" },                                 "consumer"],
  [{ consumerKey: "Demo" },                                   "consumer"],
  [{ consumerKey: "stranger" },                               "consumer"],
  [{ consumerKey: "stranger", privateKey: strange.privateKey }, "consumer"],
  [{ header: () => undefined },                               "no_header"],
  [{ header: () => "Basic ZGVtbzpkZW1v" },                    "other_scheme"],
  [{ header: (right) => right.replaceAll('"', "'") },         "malformed_header"],
  [{ header: (right) => right.replace("%", "%%") },           "malformed_header"],
  [{ header: without("oauth_consumer_key") },                 "missing_parameter"],
  [{ header: without("oauth_nonce") },                        "missing_parameter"],
  [{ header: without("oauth_signature") },                    "missing_parameter"],
  [{ header: without("oauth_signature_method") },             "missing_parameter"],
  [{ header: without("oauth_timestamp") },                    "missing_parameter"],
  [{ header: without("oauth_version") },                      "missing_parameter"],
  [{ header: (right) => `${right}, oauth_nonce="again"` },    "repeated_parameter"],
  [{ header: (right) => `${right}, oauth_version="1.0"` },    "repeated_parameter"],
  [{ signatureMethod: "RSA-SHA1", hash: "sha1" },             "other_signature_method"],
  [{ signatureMethod: "PLAINTEXT" },                          "other_signature_method"],
  [{ signatureMethod: "HMAC-SHA256" },                        "other_signature_method"],
  [{ version: "2.0" },                                        "other_version"],
  [{ timestamp: "soon" },                                     "malformed_timestamp"],
  [{ timestamp: 1 },                                          "timestamp"],
  [{ nonce: "x".repeat(200) },                                "malformed_nonce"],
  [{ nonce: "\u0000" },                                       "malformed_nonce"],
];

test("every fault gets the same answer, and only the operator's log names it", async (t) => {
  const world = await startSigned(t);
  await world.stranger();
  await giveKey(world, "stranger", strange);
  const pages = new Set<string>();

  for (const [wrong] of denied) {
    const reply = await postSigned(world, signer, salePath(world), saleFields(), wrong);
    assert.equal(reply.status, 403, JSON.stringify(wrong));
    assert.equal(reply.headers.get("content-type"), "text/html;charset=utf-8");
    assert.equal(reply.headers.get("cache-control"), "no-store");
    pages.add(reply.text);
  }

  assert.equal(pages.size, 1);
  assert.match([...pages][0] ?? "", /<p>Access denied\.<\/p>/);
  assert.deepEqual(
    deniedChecks(world),
    denied.map(([, check]) => check),
  );
  assert.equal((await world.installation.database.query("select id from orders")).length, 0);
  assert.equal(
    (await world.installation.database.query("select nonce from oauth_nonces")).length,
    0,
  );
});

test("the public address is signed, and in staging also this machine's names", async (t) => {
  const world = await startSigned(t, { GW_BASE_URL: "https://pay.example/" });
  const path = salePath(world);
  const { port } = world.gateway;
  const statusOf = async (url: string, target = path) => {
    const fields = saleFields();
    const header = authorizationFor(url, fields, { ...signer, now: world.clock.now() });
    return (await send(port, target, fields, header)).status;
  };

  assert.equal(await statusOf(`https://pay.example${path}`), 200);
  assert.equal(await statusOf(`http://localhost:${port}${path}`), 200);
  assert.equal(await statusOf(`http://127.0.0.1:${port}${path}`), 200);
  assert.equal(await statusOf(`https://pay.example${path}?b=2&a=1`, `${path}?b=2&a=1`), 200);
  assert.equal(await statusOf(`https://pay.example${path}`, `${path}?b=2`), 403);
  assert.equal(await statusOf(`http://pay.example${path}`), 403);
  assert.equal(await statusOf(`https://pay.example:8443${path}`), 403);
  assert.equal(await statusOf(`http://localhost:${port + 1}${path}`), 403);
});

test("the order of checks is that of v2", async (t) => {
  const world = await joinSigned(t);
  const path = salePath(world);
  const twice = await post(world, path, `${formOf(saleFields())}&amount=1`);
  const nowhere = await post(world, "/gw/api/v4/sale/999999", "a=1");
  const unsigned = await post(world, path, "amount=x");
  const tries = async (change: Record<string, string | undefined>) =>
    read(await postSigned(world, signer, path, saleFields(change)));

  assert.equal(read(twice)["error-code"], "1");
  assert.equal(read(nowhere)["error-code"], "3");
  assert.equal(unsigned.status, 403);
  assert.equal((await tries({ amount: "x" }))["error-code"], "5");
  assert.equal((await tries({ amount: "10.155" }))["error-code"], "5");
  assert.equal((await tries({ amount: "0" }))["error-code"], "11");
  assert.equal(
    (await tries({ currency: undefined }))["error-message"],
    "MISSING_PARAMETER: currency",
  );
  assert.equal((await tries({ client_orderid: " " }))["error-code"], "4");
  assert.equal((await tries({ client_orderid: "  spaces  " }))["merchant-order-id"], "spaces");
  const other = await fetch(`${world.gateway.url}${path}`);
  assert.equal(other.status, 405);
});

test("an endpoint can refuse checksums, and so does a group with such an endpoint", async (t) => {
  const world = await startSigned(t);
  await world.changeEndpoint("plain", { oauthOnly: true });
  const inV2 = async (place: string, id: string) => {
    const body = signedSale(world, id, saleFields());
    return read(await post(world, `/gw/api/v2/sale/${place}`, body))["error-code"];
  };

  assert.equal(await inV2(plain(world), plain(world)), "2");
  assert.equal(await inV2(`group/${world.set.group}`, world.set.group), "2");
  assert.equal(await inV2(endpoint(world, "binary"), endpoint(world, "binary")), undefined);
  const inV4 = await postSigned(world, signer, salePath(world), saleFields());
  assert.equal(read(inV4)["type"], "async-response");
});

function endpoint({ set }: World, name: string): string {
  return set.endpoints[name] ?? "";
}

function plain(world: World): string {
  return endpoint(world, "plain");
}

function salePath(world: World): string {
  return `/gw/api/v4/sale/${plain(world)}`;
}

function read({ text }: { readonly text: string }): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}
