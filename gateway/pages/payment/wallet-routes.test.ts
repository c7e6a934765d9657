/** The routes for walleta at the payment page's origin, over HTTP. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { serveRoutes } from "../../http/testing.ts";
import { Failure } from "../../values/failure.ts";
import { makeAssets } from "./assets.ts";
import { plainView, servePage, shop } from "./testing.ts";
import { walletRoutes } from "./wallet-routes.ts";

const offer = { wallet: "walleta", type: "walleta_encrypted", method: "m", data: {} } as const;

test("a session is asked for by pages that offer the wallet, in the shop's name", async (t) => {
  const asked: unknown[] = [];
  const payable = { merchant: shop, findFaults: () => [], pay: async () => ({ goTo: "" }) };
  const server = serveRoutes(t, {
    routes: walletRoutes({
      async find(token) {
        if (token === "away") return new Failure("storage_unavailable");
        if (token === "card") return { ...payable, view: plainView };
        return token === "t0ken"
          ? { ...payable, view: { ...plainView, wallets: [offer] } }
          : undefined;
      },
      isTooFast: ({ headers }) => headers["user-agent"] === "Flood/1",
      async askSession(merchant, given) {
        asked.push([merchant.login, given]);
        return given.url === "u" ? '{"nonce":"1"}' : undefined;
      },
      async findFile(name) {
        assert.doesNotMatch(name, /\0/, "PostgreSQL takes no NUL");
        return name === "file" ? "<content>" : undefined;
      },
    }),
  });
  const post = (url: string, payload = "url=u", agent = "Test/1") =>
    server.inject({ method: "POST", url, payload, headers: { "user-agent": agent } });

  const given = await post("/pay/t0ken/wallet-session");
  assert.deepEqual([given.statusCode, given.body], [200, '{"nonce":"1"}']);
  assert.equal(given.headers["x-content-type-options"], "nosniff");
  assert.deepEqual(asked, [["acme", { url: "u", shopName: "Harbour Coffee" }]]);
  // biome-ignore format: a table
  const others = [
    ["/pay/t0ken/wallet-session", 502, "url=x"],
    ["/pay/t0ken/wallet-session", 502, "%%%"],
    ["/pay/t0ken/other",          404, "url=u"],
    ["/pay/card/wallet-session",  404, "url=u"],
    ["/pay/none/wallet-session",  404, "url=u"],
    ["/pay/away/wallet-session",  503, "url=u"],
  ] as const;
  for (const [url, status, body] of others) {
    assert.equal((await post(url, body)).statusCode, status, url);
  }
  assert.equal((await post("/pay/t0ken/wallet-session", "url=u", "Flood/1")).statusCode, 429);
  const file = await server.inject("/.well-known/file");
  assert.deepEqual([file.statusCode, file.body], [200, "<content>"]);
  assert.match(String(file.headers["content-type"]), /^text\/plain/);
  for (const name of ["none", "%00", "file%00"]) {
    assert.equal((await server.inject(`/.well-known/${name}`)).statusCode, 404, name);
  }
});

test("the sandbox's sheet is on no page of a gateway that was not given it", async (t) => {
  const view = { ...plainView, wallets: [offer] };
  const { body } = await servePage(t, view).server.inject("/pay/t0ken");

  assert.doesNotMatch(body, /sandbox/);
  assert.equal(makeAssets().sheet, undefined);
  const staged = makeAssets("// the sheet");
  const { body: shown } = await servePage(t, view, undefined, staged).server.inject("/pay/t0ken");
  assert.match(shown, /sandbox\.[0-9a-f]{16}\.js" integrity="[^"]+" defer.*pay\.[0-9a-f]{16}\.js/s);
});
