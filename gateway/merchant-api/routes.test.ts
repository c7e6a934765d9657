/** Requests that no operation accepts, failures of the gateway itself, and rounds of requests. */
import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import { serveRoutes } from "../http/testing.ts";
import { makeMetrics } from "../observability/metrics.ts";
import { asInstant } from "../values/time.ts";
import { sale } from "./operations/payments.ts";
import { status } from "./operations/status.ts";
import { makeAnswerError, merchantRoutes, type RoutesOptions } from "./routes.ts";

const wire = { fieldWord: "gw", lineFeeds: false };

test("an unknown path of the merchant interface is a refusal in the client's format", async (t) => {
  const { server, lines } = serve(t);
  const json = { accept: "application/json" };

  const form = await server.inject("/gw/api/v2/no-such/1001");
  const object = await server.inject({ url: "/gw/api/v2/no-such/1001", headers: json });
  const large = await server.inject({
    method: "POST",
    url: "/gw/api/fails",
    payload: "x".repeat(101),
  });

  assert.equal(form.statusCode, 404);
  assert.equal(form.headers["content-type"], "text/html;charset=utf-8");
  assert.equal(form.headers["cache-control"], "no-store");
  assert.match(form.body, /^type=validation-error&serial-number=[-0-9a-f]{36}&error-message=/);
  assert.match(form.body, /INVALID_REQUEST%3A\+no\+such\+path&error-code=1$/);
  assert.equal(object.json()["error-message"], "INVALID_REQUEST: no such path");
  assert.equal(large.statusCode, 413);
  assert.match(large.body, /the\+body\+is\+too\+large/);
  assert.deepEqual(lines, []);
});

test("an unknown path elsewhere is plain text, and says nothing of payments", async (t) => {
  const { server } = serve(t);

  const { statusCode, headers, body } = await server.inject("/gw/apix");

  assert.deepEqual([statusCode, body], [404, "no such path\n"]);
  assert.equal(headers["content-type"], "text/plain;charset=utf-8");
});

test("an exception is an internal failure, and its path is logged without the query", async (t) => {
  const { server, lines } = serve(t);

  const { statusCode, body } = await server.inject({ method: "POST", url: "/gw/api/fails?a=1" });

  assert.equal(statusCode, 500);
  assert.match(body, /^type=error&.*error-message=INTERNAL_ERROR&error-code=5000$/);
  assert.doesNotMatch(body, /broken/);
  const [[event, facts] = []] = lines;
  assert.equal(event, "request.failed");
  assert.ok(facts !== undefined && "path" in facts);
  assert.equal(facts.path, "/gw/api/fails");
});

test("a busy gateway handles requests that change something in rounds, polls as they come", async () => {
  const handled: string[] = [];
  const routes = merchantRoutes({
    ...({} as RoutesOptions),
    operations: [sale, status],
    pathWord: "gw",
    wire,
    metrics: makeMetrics(),
    log: () => undefined,
    keepRefused: () => undefined,
    addressOf: () => "",
    isBusy: () => true,
    findEntryPoint(_form, id) {
      handled.push(id);
      return undefined;
    },
    clock: { now: () => asInstant(0), after: () => () => undefined },
  });
  const ask = (operation: string, id: string) => {
    const route = routes.find(({ path }) => path === `/gw/api/v2/${operation}/:id`);
    const request = { method: "POST", url: "", params: [id], headers: {}, socket: new Socket() };
    return route?.answer({ ...request, body: Buffer.from("a=1") });
  };

  const first = ask("sale", "first sale");
  const all = [ask("sale", "second sale"), ask("status", "poll"), ask("sale", "third sale")];
  await Promise.all([first, all[1]]);
  const atOnce = new Set(handled);
  await Promise.all(all);

  assert.deepEqual(atOnce, new Set(["first sale", "poll"]));
  assert.deepEqual(new Set(handled.slice(-2)), new Set(["second sale", "third sale"]));
});

function serve(t: { after(clean: () => unknown): void }) {
  const lines: (readonly [event: string, facts: object])[] = [];
  const log = (event: string, facts: object) => void lines.push([event, facts]);
  const answer = () => Promise.reject(new Error("broken"));
  const server = serveRoutes(t, {
    routes: [{ method: "POST", path: "/gw/api/fails", answer }],
    bounds: { bodyBytesMax: 100 },
    answerError: makeAnswerError({ pathWord: "gw", wire, log }),
  });
  return { server, lines };
}

// biome-ignore format: a table
const pagePaths: readonly (readonly [path: string, logged: string])[] = [
  ["/pay/42000001.abcdefghijklmnopqrstuvwx",             "/pay/42000001.…"],
  ["/pay/42000001.abcdefghijklmnopqrstuvwx/session?a=b", "/pay/42000001.…"],
  ["/pay/Zk3pQ9aLw0xT",                                  "/pay/…"],
  ["/gw/form/challenge/42000001/abcdefghijklmnopqrst",   "/gw/form/challenge/42000001/…"],
  ["/gw/view-receipt/1001/8842001733",                   "/gw/view-receipt/1001/…"],
  ["/gw/api/v2/sale/1001?key=1",                         "/gw/api/v2/sale/1001"],
];

test("the log has the path of a failed request without the token that opens a page", () => {
  for (const [path, shown] of pagePaths) {
    const logged: object[] = [];
    const answerError = makeAnswerError({
      pathWord: "gw",
      wire,
      log: (_, facts) => void logged.push(facts),
    });
    const error = new Error("broken");
    answerError({ status: 500, path, accept: undefined, error });

    assert.deepEqual(logged, [{ path: shown, err: error }]);
  }
});
