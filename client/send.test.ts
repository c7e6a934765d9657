/** Which requests are sent again, when and how; and how replies of every shape are read. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { makeClient, Refused, Unreachable } from "./client.ts";
import { syncWaitMs } from "./operations.generated.ts";
import { readReply } from "./send.ts";
import {
  type Answer,
  acknowledged,
  approved,
  hangUp,
  makeScene,
  makeStillTime,
  refuse,
  sale,
  say,
  saysNothing,
  startServer,
} from "./testing.ts";

const unavailable = (retryAfter = "") => refuse(503, "TEMPORARILY_UNAVAILABLE", 5001, retryAfter);

// biome-ignore format: a table
const passing: readonly (readonly [what: string, answer: Answer])[] = [
  ["a lost connection",     hangUp],
  ["a garbled reply",       say("<html>")],
  ["a reply of another kind", say("type=status-response&status=approved")],
  ["a proxy's 502",         say("<html>Bad Gateway</html>", 502)],
  ["a proxy's 503",         say("", 503)],
  ["the gateway's 408",     say("", 408)],
  ["the gateway's 503",     unavailable()],
  ["the gateway's 429",     refuse(429, "TOO_MANY_REQUESTS", 12)],
];

test("a sale is sent again, byte for byte, after a temporary failure", async (t) => {
  for (const [what, answer] of passing) {
    const { endpoint, received, timing } = await makeScene(t, answer, say(acknowledged));

    const acknowledgement = await endpoint.sale(sale);

    assert.equal(acknowledgement["gw-order-id"], "77000001", what);
    assert.equal(received.length, 2, what);
    assert.deepEqual(received[0], received[1], what);
    assert.equal(timing.pauses.length, 1, what);
  }
});

test("captures and returns are sent again too, because the gateway recognises the identical request", async (t) => {
  const asked = { client_orderid: "invoice-1", orderid: "77000001", comment: "first" };
  for (const name of ["capture", "return"] as const) {
    const { endpoint, received } = await makeScene(t, hangUp, say(acknowledged));

    await endpoint[name](asked);

    assert.equal(received.length, 2, name);
    assert.deepEqual(received[0], received[1], name);
  }
});

test("a synchronous request whose reply is lost or late is sent again", async (t) => {
  const { baseUrl, received } = await startServer(t, saysNothing, hangUp, say(approved));
  const merchant = { baseUrl, login: "a", controlKey: "k", timing: makeStillTime() };
  const client = makeClient({ ...merchant, syncTimeoutMs: 2_000 });

  const result = await client.endpoint("1001").sync.sale(sale);

  assert.equal(result.status, "approved");
  assert.equal(received.length, 3);
});

test("a synchronous request has more time than the gateway waits", async (t) => {
  const limitsMs: number[] = [];
  t.mock.method(AbortSignal, "timeout", (limitMs: number) => {
    limitsMs.push(limitMs);
    return new AbortController().signal;
  });
  const { endpoint } = await makeScene(t, say(approved));

  await endpoint.sync.sale(sale);
  await endpoint.status({ client_orderid: "invoice-1" });

  assert.deepEqual(limitsMs, [syncWaitMs + 10_000, 30_000]);
});

test("a refusal is final, and is sent once", async (t) => {
  for (const code of [2, 4, 7, 9, 13, 5002]) {
    const { endpoint, received } = await makeScene(t, refuse(200, "NO", code));

    await assert.rejects(endpoint.sale(sale), (error) => {
      return error instanceof Refused && error.code === code;
    });
    assert.equal(received.length, 1);
  }
});

test("a 4xx or a redirect that is not from the gateway is final", async (t) => {
  for (const status of [301, 307, 400, 403, 404]) {
    const elsewhere = { location: "http://127.0.0.1:1/" };
    const { endpoint, received } = await makeScene(t, say("<html>", status, elsewhere));

    await assert.rejects(endpoint.sale(sale), (error) => {
      return error instanceof Unreachable && error.httpStatus === status && error.tries === 1;
    });
    assert.equal(received.length, 1);
  }
});

test("attempts are limited, and the last failure is reported", async (t) => {
  const cut = await makeScene(t, hangUp);
  await assert.rejects(cut.endpoint.sale(sale), (error) => {
    return error instanceof Unreachable && error.tries === 3 && error.reason === "UND_ERR_SOCKET";
  });
  assert.equal(cut.received.length, 3);

  const busy = await makeScene(t, unavailable());
  await assert.rejects(busy.endpoint.sale(sale), (error) => {
    return error instanceof Refused && error.code === 5001 && error.httpStatus === 503;
  });
  assert.equal(busy.received.length, 3);
});

test("after an internal failure of the gateway the outcome is unknown, not a refusal", async (t) => {
  const failed = refuse(200, "INTERNAL_ERROR", 5000);
  const passing = await makeScene(t, failed, say(acknowledged));
  assert.equal((await passing.endpoint.sale(sale))["gw-order-id"], "77000001");

  const lasting = await makeScene(t, failed);
  await assert.rejects(lasting.endpoint.sale(sale), (error) => {
    return error instanceof Unreachable && /INTERNAL_ERROR \(5000\)/.test(error.reason);
  });
  assert.equal(lasting.received.length, 3);
});

test("the outcome of an unanswered sale stays unknown when the gateway refuses the next try", async (t) => {
  const answers = [
    ...[unavailable(), unavailable("3600"), refuse(429, "TOO_MANY_REQUESTS", 12)],
    ...[refuse(200, "INVALID_PARAMETER", 5), refuse(200, "DUPLICATE_ORDER", 7)],
  ];
  for (const answer of answers) {
    const { endpoint } = await makeScene(t, hangUp, answer);

    await assert.rejects(endpoint.sale(sale), (error) => {
      return error instanceof Unreachable && error.reason === "UND_ERR_SOCKET";
    });
  }
  const { endpoint } = await makeScene(t, hangUp, refuse(200, "ORDER_NOT_FOUND", 6));
  await assert.rejects(endpoint.status({ client_orderid: "1", orderid: "2" }), Refused);
});

test("gaps double and have jitter", async (t) => {
  const { baseUrl } = await startServer(t, hangUp);
  const gapsWith = async (random: number) => {
    const timing = makeStillTime(random);
    const client = makeClient({ baseUrl, login: "a", controlKey: "k", timing, tries: 4 });
    await assert.rejects(client.endpoint("1").sale(sale), Unreachable);
    return timing.pauses;
  };

  assert.deepEqual(await gapsWith(0), [100, 200, 400]);
  assert.deepEqual(await gapsWith(0.999_999), [200, 400, 800]);
});

test("the client never repeats before Retry-After, and not at all if it is too long", async (t) => {
  const busy = await makeScene(t, unavailable("7"), say(acknowledged));
  await busy.endpoint.sale(sale);
  assert.deepEqual(busy.timing.pauses, [7_000 + 150]);

  const { endpoint, received } = await makeScene(t, unavailable("3600"));
  await assert.rejects(endpoint.sale(sale), Refused);
  assert.equal(received.length, 1);
});

test("Retry-After may be a date, and one that is past means now", async (t) => {
  const past = unavailable("Wed, 21 Oct 2015 07:28:00 GMT");
  const far = unavailable("Fri, 21 Oct 2095 07:28:00 GMT");
  const busy = await makeScene(t, past, far);

  await assert.rejects(busy.endpoint.sale(sale), Refused);
  assert.deepEqual(busy.timing.pauses, [150]);
});

test("a timeout is treated like any other network failure", async (t) => {
  const { baseUrl, received } = await startServer(t, saysNothing, say(acknowledged));
  const timing = makeStillTime();
  const client = makeClient({ baseUrl, login: "a", controlKey: "k", timing, timeoutMs: 2_000 });

  const acknowledgement = await client.endpoint("1001").sale(sale);
  assert.equal(acknowledgement["gw-order-id"], "77000001");
  assert.equal(received.length, 2);

  const lone = makeClient({ baseUrl, login: "a", controlKey: "k", fetch: neverAnswers });
  const signal = AbortSignal.abort(new Error("the shop closes"));
  await assert.rejects(lone.endpoint("1001").sale(sale, { signal }), /the shop closes/);
});

test("no error contains anything of the card, the key or the request", async (t) => {
  const leaky = async () => {
    throw new TypeError(`could not send ${JSON.stringify(sale)}`, {
      cause: { code: `E ${sale.credit_card_number}` },
    });
  };
  const timing = makeStillTime();
  const options = {
    baseUrl: "http://gateway",
    login: "acme",
    controlKey: "top-secret-key",
    timing,
  };
  const client = makeClient({ ...options, fetch: leaky });
  const scenes = [passing[1]?.[1] ?? hangUp, refuse(200, "INVALID_PARAMETER", 5)];
  const endpoints = await Promise.all(
    scenes.map(async (each) => (await makeScene(t, each)).endpoint),
  );

  for (const endpoint of [client.endpoint("1001"), ...endpoints]) {
    const error: unknown = await endpoint.sale(sale).catch((thrown) => thrown);
    assert.ok(error instanceof Refused || error instanceof Unreachable);
    const seen = inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error);
    assert.doesNotMatch(seen, /4000001|0018|917|JANE|top-secret/);
  }
  assert.doesNotMatch(inspect(client, { depth: 9, showHidden: true }), /top-secret/);
});

/** Rejects only when the signal is aborted. */
async function neverAnswers(_url: string, { signal }: { readonly signal: AbortSignal }) {
  return new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

test("pairs become decoded fields", () => {
  const fields = read("type=status-response&name=J%C3%BCrgen+D%26o&html=a%0Ab");

  assert.deepEqual(fields, { type: "status-response", name: "Jürgen D&o", html: "a\nb" });
});

test("a line feed after a value is not part of it", () => {
  const fields = read("type=async-response\n&gw-order-id=77\n&x=%0A\n");

  assert.deepEqual(fields, { type: "async-response", "gw-order-id": "77", x: "\n" });
});

test("the operator's own word is read as gw, and gw is read as well", () => {
  const own = read("type=t&acme-order-id=77&acme-processing-date=d&acme-other=o", "acme");
  const neutral = read("type=t&gw-order-id=77", "acme");

  const expected = { type: "t", "gw-order-id": "77", "gw-processing-date": "d", "acme-other": "o" };
  assert.deepEqual(own, expected);
  assert.deepEqual(neutral, { type: "t", "gw-order-id": "77" });
});

test("a refusal has the type, number, word and serial number of the wire", () => {
  const refused = read(
    "type=validation-error&serial-number=s-1&error-message=INVALID_PARAMETER%3A+email&error-code=5",
  );

  assert.ok(refused instanceof Refused);
  const { type, code, word, serialNumber, httpStatus, message } = refused;
  assert.deepEqual(
    { type, code, word, serialNumber, httpStatus, message },
    {
      type: "validation-error",
      code: 5,
      word: "INVALID_PARAMETER",
      serialNumber: "s-1",
      httpStatus: 200,
      message: "INVALID_PARAMETER: email (5)",
    },
  );
});

// biome-ignore format: a table
const garbled: readonly (readonly [what: string, body: string])[] = [
  ["nothing",                      ""],
  ["a page of a proxy",            "<html><body>Bad Gateway</body></html>"],
  ["no type",                      "serial-number=s-1&status=approved"],
  ["a broken escape",              "type=async-response&gw-order-id=%4"],
  ["bytes that are not UTF-8",     "type=%ff"],
  ["a refusal without a number",   "type=error&error-message=INTERNAL_ERROR"],
  ["a number that is none",        "type=error&error-message=INTERNAL_ERROR&error-code=5e3"],
];

test("an answer that is not a reply is not read as one", () => {
  for (const [what, body] of garbled) assert.equal(read(body), undefined, what);
});

test("digits that look like a card are hidden in the message of a refusal", () => {
  for (const digits of ["4000001000000018", "4000 0010 0000 0018", "4000-0010-0000-0018"]) {
    const message = encodeURIComponent(`INVALID_PARAMETER: ${digits} is bad`);
    const refused = read(`type=error&error-code=5&error-message=${message}`);

    assert.ok(refused instanceof Refused);
    assert.doesNotMatch(inspect(refused) + JSON.stringify(refused), /4000|0018/);
  }
});

function read(body: string, fieldWord = "gw") {
  return readReply({ httpStatus: 200, bytes: Buffer.from(body) }, fieldWord);
}
